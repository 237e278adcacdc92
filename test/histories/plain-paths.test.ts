// The plain path of every process, and what it leaves open or terminated, as test/long/histories takes all of them.
import { testPaths } from "./path-tests.js";
import { allPaths } from "../harness/histories/paths.js";
import type { PathsOf } from "../harness/histories/path-run.js";

function plainOf(of: PathsOf): PathsOf {
  const [plain] = Object.keys(of.paths);
  const walked = new Set([plain, "still-open", "terminated"]);
  const paths = Object.entries(of.paths).filter(([name]) => walked.has(name));
  return {
    ...of,
    accounts: of.accounts.filter((name) => walked.has(name)),
    paths: Object.fromEntries(paths),
  };
}

testPaths(allPaths.map(plainOf));
