// A saved document gets its name only when it is complete.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { saveDocument } from "../../../src/cli/upkeep/saved-document.js";
import { temporaryFolder } from "../../harness/temporary.js";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const shown = async () => (await readdir(folder)).filter((name) => !name.startsWith("."));

test.each([
  ["%PDF-1.7 one", "name.pdf"],
  ["one", "name.bin"],
])("while the pieces of %j arrive, no file is shown", async (start, name) => {
  async function* pieces() {
    yield Buffer.from(start);
    expect(await shown()).toEqual([]);
    yield Buffer.from(", two");
    expect(await shown()).toEqual([]);
  }
  const saved = await saveDocument(folder, "name", pieces());
  expect(saved).toMatchObject({ file: join(folder, name), size: start.length + 5 });
  expect(await readFile(saved.file, "utf8")).toBe(`${start}, two`);
  expect(await readdir(folder)).toEqual([name]);
});

test("an error in the middle leaves no file", async () => {
  async function* pieces() {
    yield Buffer.from("one");
    throw new Error("damaged");
  }
  await expect(saveDocument(folder, "name", pieces())).rejects.toThrow("damaged");
  expect(await readdir(folder)).toEqual([]);
});

test("another content of the same name is refused, or kept beside it under its digest; the same content is one file", async () => {
  const save = (text: string, how?: { keepsBoth: boolean }) =>
    saveDocument(folder, "name", [Buffer.from(text)], how);
  await save("one");
  await save("one");
  await expect(save("two")).rejects.toMatchObject({
    ...{ exitCode: 2, message: expect.stringContaining("exists already with other content") },
  });
  expect(await readFile(join(folder, "name.bin"), "utf8")).toBe("one");
  const both = { keepsBoth: true };
  expect((await save("one", both)).file).toBe(join(folder, "name.bin"));
  const { file, sha256 } = await save("two", both);
  expect(file).toBe(join(folder, `name-${sha256.slice(0, 16)}.bin`));
  expect((await save("two", both)).file).toBe(file);
  expect(await shown()).toHaveLength(2);
});

test.each([
  ["file", "it is not a folder"],
  ["file/below", "a part of the path is not a folder"],
])("the folder %j, where a file stands, is refused in words", async (path, problem) => {
  await writeFile(join(folder, "file"), "");
  await expect(saveDocument(join(folder, path), "name", [])).rejects.toThrow(`(${problem})`);
});
