import { beforeEach, expect, test } from "vitest";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ResultFile } from "../../../src/cli/many/result-file.js";
import type { Outcome } from "../../../src/cli/many/result-file.js";
import { temporaryFolder } from "../../harness/temporary.js";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, "result.csv");
});

async function write(...outcomes: [id: string, result: Outcome["result"], message?: string][]) {
  const file = await ResultFile.open(path);
  for (const [id, result, message] of outcomes)
    await file.add({ line: 2, id, result, ...(message !== undefined && { message }) });
  await file.close();
}

const lines = async () => (await readFile(path, "utf8")).split("\r\n").slice(1, -1);

test("it has a line for each outcome, and only its owner reads it", async () => {
  await write(["a", "started"], ["b", "failed", 'a "quoted"\nmessage'], ["-c", "notStarted"]);
  expect(await readFile(path, "utf8")).toMatch(/^"id","result","error","message"\r\n/);
  expect(await lines()).toEqual([
    '"a","started","",""',
    expect.stringMatching(/^"b","failed","","a ""quoted"".message"$/),
    `"'-c","notStarted","",""`,
  ]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a second run adds what has changed, and no line for what it joins", async () => {
  await write(["-a", "started"], ["b", "failed"], ["c", "notStarted"]);
  await write(["-a", "joined"], ["b", "started"], ["c", "joined"]);
  expect((await lines()).slice(3)).toEqual(['"b","started","",""', '"c","joined","",""']);
  await write(["-a", "joined"], ["b", "failed", "another input"], ["c", "joined"]);
  expect((await lines()).slice(5)).toEqual(['"b","failed","","another input"']);
  await write(["b", "failed", "another input"]);
  await write(["b", "failed", "another input"], ["b", "failed", "another input"]);
  expect(await lines()).toHaveLength(6);
  await write(["b", "joined"]);
  expect((await lines()).slice(6)).toEqual(['"b","joined","",""']);
});

test.each(['"c","star', '"c","started","",""', '"c'])(
  "a line that a kill has cut off as %s is written anew",
  async (cut) => {
    await write(["a", "started"], ["b", "started"]);
    await appendFile(path, cut);
    await write(["a", "joined"], ["b", "joined"], ["c", "joined"]);
    expect((await lines()).slice(2)).toEqual(['"c","joined","",""']);
  },
);

test("so is a header that was cut off", async () => {
  await writeFile(path, '"id","res');
  await write(["a", "started"]);
  expect(await readFile(path, "utf8")).toMatch(/^"id","result","error","message"\r\n"a"/);
});

test("another file stays as it is, and one that cannot be written is named", async () => {
  await writeFile(path, "id,recipientName\norder-7,Ana\n");
  await expect(ResultFile.open(path)).rejects.toThrow("is not the result of an earlier run");
  expect(await readFile(path, "utf8")).toContain("order-7,Ana");
  await expect(ResultFile.open(folder)).rejects.toThrow("--result: cannot write");
});
