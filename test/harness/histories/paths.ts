// The paths of every process: `npm run record-histories` runs each on the real stack, and one test searches a sample of them for canaries.
// A new process adds its paths and inputs to test/processes, never a harness.
import { brought } from "../../processes/index.js";
import type { PathsOf } from "./path-run.js";

export const allPaths: PathsOf[] = await Promise.all(
  Object.values(brought).map(({ paths }) => paths()),
);

/** With these of its paths alone, and their accounts. */
export function only(of: PathsOf, ids: string[]): PathsOf {
  const paths = Object.fromEntries(
    ids.map((id) => {
      const path = of.paths[id];
      if (!path) throw new Error(`${of.process} has no path ${id}`);
      return [id, path];
    }),
  );
  return { ...of, paths, accounts: of.accounts.filter((id) => Object.hasOwn(paths, id)) };
}
