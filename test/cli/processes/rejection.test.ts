// `reject-call`: the fields of the request are read before anything is asked of Temporal (P1 §4.2).
import { expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandLine } from "../in-process.js";
import { temporaryFolder } from "../../harness/temporary.js";

const folder = await temporaryFolder();

test.each([
  ["reason: Q7XJ2VK9", "is not JSON"],
  ['["Q7XJ2VK9"]', "must hold a JSON object"],
  ["", "is empty"],
])("the fields %j are refused with what is wrong, and not quoted", async (text, problem) => {
  const file = join(folder, "fields.json");
  await writeFile(file, text);
  const { code, stdout, stderr } = await commandLine(["reject-call", "order-7", "--fields", file]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(problem);
  expect(stderr).not.toContain("Q7XJ2VK9");
});
