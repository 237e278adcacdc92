// Every command of the pages is run, in the order it stands there, to its end, and what it prints is what the page shows.
// test/docs/exceptions.ts names the few that are not run.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawnSync } from "node:child_process";
import { exceptionTo } from "../../docs/exceptions.js";
import { root } from "../../docs/repository.js";
import { difference, nameOf, shellBlocks } from "../../docs/shell-blocks.js";
import type { Guide } from "./guides.js";
import { PageWorld } from "../../harness/pages/world.js";

const PAGE_LIMIT_MS = 20 * 60_000;
const stays = /^(npx )?trustflow (dev|sandbox --port)\b/;

/** Runs a page's commands from the first to the last. */
async function follow(page: string, world: PageWorld, guide: Guide): Promise<void> {
  const { before = {}, replaced = {}, typed = () => "" } = guide;
  const here = (text: string) =>
    Object.entries(replaced).reduce((so, [shown, real]) => so.replaceAll(shown, real), text);
  for (const { commands, output: shown } of shellBlocks(page)) {
    let printed = "";
    let isWhole = true;
    for (const command of commands) {
      const name = nameOf(command);
      const exception = exceptionTo(page, command);
      const text = exception ? exception.instead : command.text;
      isWhole &&= exception === undefined;
      if (text === undefined) continue;
      await before[name]?.(world);
      if (stays.test(text)) {
        // The next one takes the ports of the one before.
        await world.interrupt();
        printed += await world.serve(here(text));
      } else {
        const { code, output } = await world.run(here(text), typed(name, world));
        printed += output;
        if (code !== command.exitCode)
          throw new Error(`${page}:${command.line} ends with ${code}: ${here(text)}\n${output}`);
      }
    }
    const where = `${page}:${commands[0]?.line}`;
    if (shown !== undefined && isWhole)
      expect([where, difference(here(shown), printed)]).toEqual([where, undefined]);
  }
}

/** Its language or its packages are not to be had here; the report then counts the page as skipped. */
function isOutOfReach({ needs }: Guide): boolean {
  return (
    needs !== undefined &&
    spawnSync(needs, { cwd: root, shell: true, stdio: "ignore" }).status !== 0
  );
}

/** In one place, one after the other. `first` makes the place ready. */
export function followPages(
  guides: Guide[],
  first: (world: PageWorld) => Promise<unknown> = async () => undefined,
): void {
  describe(guides.map(({ page }) => page).join(", "), () => {
    let world: PageWorld;
    beforeAll(async () => {
      world = await PageWorld.open();
      await first(world);
    }, PAGE_LIMIT_MS);
    afterAll(() => world?.close(), PAGE_LIMIT_MS);

    for (const one of guides)
      (isOutOfReach(one) ? test.skip : test)(
        one.page,
        async () => {
          await one.first?.(world);
          await follow(one.page, world, one);
          await one.last?.(world);
        },
        PAGE_LIMIT_MS,
      );
  });
}
