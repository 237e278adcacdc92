import { followPages } from "../../harness/pages/follow.js";
import { languages, quickNpx } from "../../harness/pages/guides.js";

followPages(languages, async (world) => {
  await quickNpx(world);
  await world.serve("trustflow dev");
});
