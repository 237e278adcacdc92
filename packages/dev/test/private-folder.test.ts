// The folder of a stack is for its owner alone, before anything is in it.
import { chmod, mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { startPostgres } from "../src/servers/postgres.js";
import { openPrivateFolder } from "../src/stack/private-folder.js";
import { resetStack } from "../src/stack/reset.js";
import { openState } from "../src/stack/stack-state.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const said: string[] = [];
const progress = (text: string) => void said.push(text);

test("it is made for its owner alone, whatever the umask says", async () => {
  const before = process.umask(0);
  try {
    await openState(join(folder, "new"), progress);
  } finally {
    process.umask(before);
  }
  expect(await modeOf(join(folder, "new"))).toBe("700");
  expect(await modeOf(join(folder, "new", "stack.json"))).toBe("600");
  expect(await readFile(join(folder, "new", ".gitignore"), "utf8")).toBe("*\n");
});

test("one that others could read is closed, and that is said", async () => {
  const made = join(folder, "made");
  await openState(made, progress);
  await chmod(made, 0o755);
  await openState(made, progress);
  expect(await modeOf(made)).toBe("700");
  expect(said).toEqual([`other users could read ${made}: now only its owner can`]);
});

test("a folder of something else is refused, and stays as it is", async () => {
  const other = join(folder, "other");
  await mkdir(other);
  await writeFile(join(other, "thesis.txt"), "");
  await chmod(other, 0o755);
  await expect(openState(other, progress)).rejects.toThrow(/holds other files: .*chmod 700/);
  expect(await modeOf(other)).toBe("755");
  expect(await readdir(other)).toEqual(["thesis.txt"]);
  await chmod(other, 0o700);
  await openPrivateFolder(other, progress);
  expect(await readdir(other)).toEqual(["thesis.txt"]);
  const below = openPrivateFolder(join(other, "thesis.txt", "new"), progress);
  await expect(below).rejects.toThrow(
    /^directory: .* cannot be written \(a part of the path is not/,
  );
});

test("a reset deletes what a stack makes, and keeps what else is there", async () => {
  await openState(folder, progress);
  await writeFile(join(folder, ".gitignore"), "*\n");
  await mkdir(join(folder, "documents"));
  await writeFile(join(folder, "temporal.db-wal"), "");
  await writeFile(join(folder, "thesis.odt"), "");
  await resetStack(folder, progress);
  expect(await readdir(folder)).toEqual([".gitignore", "thesis.odt"]);
});

test("a reset of a folder that was just made has nothing to delete", async () => {
  const directory = join(folder, "new");
  await openPrivateFolder(directory, progress);
  await resetStack(directory, progress);
  expect(await readdir(directory)).toEqual([".gitignore"]);
});

test.each([
  ["without stack.json", {}],
  ["with a stack.json of another program", { "stack.json": '{"name":"a stack of plates"}' }],
  ["with a stack.json that is no JSON", { "stack.json": "keys" }],
])("a reset deletes nothing in a folder %s", async (_, files) => {
  await mkdir(join(folder, "documents"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const before = await readdir(folder);
  await expect(resetStack(folder, progress)).rejects.toThrow("--reset deletes nothing there");
  expect(await readdir(folder)).toEqual(before);
});

test("a database whose version cannot be read is not made anew", async () => {
  const data = join(folder, "data");
  await mkdir(data);
  // The name of the version leads nowhere, for root too.
  await symlink("PG_VERSION", join(data, "PG_VERSION"));
  await writeFile(join(data, "base"), "");
  await expect(startPostgres({ directory: folder })).rejects.toThrow("ELOOP");
  expect(await readdir(data)).toEqual(["PG_VERSION", "base"]);
});
