import { followPages } from "../../harness/pages/follow.js";
import { quickNpx, system } from "../../harness/pages/guides.js";

followPages(system, quickNpx);
