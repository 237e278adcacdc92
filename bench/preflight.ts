// `node --import ./scripts/typescript.mjs bench/preflight.ts [--quick]`: the check of a list of recipients, alone.
import { table } from "./measure.js";
import { measurePreflight } from "./measures/preflight.js";

console.log(table(await measurePreflight({ quick: process.argv.includes("--quick") })));
