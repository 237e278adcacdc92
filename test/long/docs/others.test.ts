import { followPages } from "../../harness/pages/follow.js";
import { onboarding, others, quickNpx } from "../../harness/pages/guides.js";

followPages(onboarding);
for (const guides of others) followPages(guides, quickNpx);
