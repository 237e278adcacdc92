import { followPages } from "./follow.js";
import { onboarding, others, quickNpx } from "./guides.js";

followPages(onboarding);
for (const guides of others) followPages(guides, quickNpx);
