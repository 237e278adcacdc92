// A user's program with a system of its own (`Trustflow.embedded()`) that is killed.
import { expect, test } from "vitest";
import { folder, nothingIsLeft, program } from "../../../packages/dev/test/program.js";
import { processesOf } from "../../harness/left-over.js";

test("nothing is left of a program that is killed", async () => {
  const up = `console.log("up"); setInterval(() => {}, 1000);`;
  const { child, lines } = program({ speed: 40_000 }, up);
  await lines.next();
  expect((await processesOf(folder)).length).toBeGreaterThan(5);
  child.kill("SIGKILL");
  await nothingIsLeft();
}, 180_000);
