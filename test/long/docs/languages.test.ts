import { followPages } from "./follow.js";
import { languages, quickNpx } from "./guides.js";

followPages(languages, async (world) => {
  await quickNpx(world);
  await world.serve("trustflow dev");
});
