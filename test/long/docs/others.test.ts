import { followPages } from "../../harness/pages/follow.js";
import {
  onboarding,
  ownProvider,
  quickNpx,
  sandbox,
  testing,
  tools,
} from "../../harness/pages/guides.js";

followPages(onboarding);
for (const guides of [testing, ownProvider, sandbox, tools]) followPages(guides, quickNpx);
