// The first path of each process, and those that leave a process open or terminated. test/long/histories takes all of them.
import { testPaths } from "./path-tests.js";
import { allPaths } from "../harness/histories/paths.js";
import type { PathsOf } from "../harness/histories/path-run.js";

function plainOf(of: PathsOf): PathsOf {
  const [plain] = Object.keys(of.paths);
  const chosen = new Set([plain, "still-open", "terminated"]);
  const paths = Object.entries(of.paths).filter(([name]) => chosen.has(name));
  return {
    ...of,
    accounts: of.accounts.filter((name) => chosen.has(name)),
    paths: Object.fromEntries(paths),
  };
}

testPaths(allPaths.map(plainOf), { least: 40 });
