import { followPages } from "./follow.js";
import { quickNpx, system } from "./guides.js";

followPages(system, quickNpx);
