// `documents put` and `get`, as a shell runs them: a document is stored and fetched as a whole or not at all.
import { randomBytes } from "node:crypto";
import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { DocumentReference } from "../../../src/contracts/shared/values.js";
import { generateKeyRing } from "../../../src/crypto/key-ring.js";
import { eventually } from "../../harness/outages/wait.js";
import { onTerminal } from "../../harness/stack/terminal.js";
import { commandLine } from "../in-process.js";
import { cli, start } from "../run.js";
import { temporaryFolder } from "../../harness/temporary.js";

const folder = await temporaryFolder();
let env: Record<string, string>;
const pdf = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(200_000)]);

beforeAll(async () => {
  env = {
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(folder, "store"),
    TRUSTFLOW_KEYS__DOCUMENTS: generateKeyRing(),
  };
  await writeFile(join(folder, "letter.pdf"), pdf);
});

async function put(file: string): Promise<DocumentReference> {
  const { code, stdout, stderr } = await commandLine(["documents", "put", file, "--json"], { env });
  expect([code, stderr]).toEqual([0, ""]);
  return DocumentReference.parse(JSON.parse(stdout));
}

const stored = ({ uri }: DocumentReference) => {
  const id = uri.slice("document:".length);
  return join(folder, "store", id.slice(0, 2), id);
};

test("a file goes in and comes out, to a folder and to stdout; no progress without a terminal", async () => {
  const reference = await put(join(folder, "letter.pdf"));
  expect(reference).toMatchObject({ size: pdf.length, mediaType: "application/pdf" });
  const out = join(folder, "out");
  const args = ["documents", "get", reference.uri, "--out", out, "--json"];
  for (const _ of ["new", "there already"]) {
    const { code, stdout, stderr } = await commandLine(args, { env });
    expect([code, stderr]).toEqual([0, ""]);
    const [saved] = JSON.parse(stdout) as [{ file: string; size: number; sha256: string }];
    expect(saved).toMatchObject({ size: pdf.length, sha256: reference.sha256 });
    expect((await readFile(saved.file)).equals(pdf)).toBe(true);
  }
  expect(await readdir(out)).toEqual([`${reference.uri.slice("document:".length)}.pdf`]);
  const child = spawn(process.execPath, [cli, "documents", "get", reference.uri], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect((await buffer(child.stdout)).equals(pdf)).toBe(true);
});

test("on a terminal a line shows how far a large file is, and goes", async () => {
  const file = join(folder, "large.pdf");
  await writeFile(file, Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(100_000_000)]));
  const screen = onTerminal(["documents", "put", file], { ...env, TERM: "xterm" });
  expect(await screen.ended).toBe(0);
  const lines = screen.shown().split("\r\u001b[K");
  expect(lines.length).toBeGreaterThan(2);
  expect(lines[1]).toMatch(
    /^large\.pdf \[=*\.*\] +\d+ % [\d.]+\/100 MB, [\d.]+ MB\/s, \d+ s left$/,
  );
  expect(lines.at(-1)).toMatch(/^document:[0-9a-f]{32}\r\n$/);
});

/** Ends the command by the signal once a megabyte is in the folder; it is long from over then. */
async function ended(args: string[], into: string, signal: "SIGINT" | "SIGTERM" | "SIGKILL") {
  const store = args[1] === "put" ? { TRUSTFLOW_DOCUMENTS__DIRECTORY: into } : {};
  const child = start(args, { env: { ...env, ...store } });
  try {
    await eventually("a megabyte in the folder", () => hasMegabyte(into));
  } finally {
    child.kill(signal);
    expect(await once(child, "close")).toEqual([null, signal]);
  }
}

async function large(name: string, bytes: number): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, "%PDF-1.7\n");
  await truncate(file, bytes);
  return file;
}

test("a put or a get that a signal ends leaves no file, and ends by the signal", async () => {
  const store = join(folder, "ended");
  await ended(["documents", "put", await large("endless.pdf", 50e9)], store, "SIGTERM");
  expect(await filesIn(store)).toEqual([]);
  const { uri } = await put(await large("half.pdf", 300e6));
  const out = join(folder, "interrupted");
  await ended(["documents", "get", uri, "--out", out], out, "SIGINT");
  expect(await readdir(out)).toEqual([]);
  await rm(join(folder, "store"), { recursive: true });
});

async function filesIn(store: string) {
  const entries = await readdir(store, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile());
}

async function hasMegabyte(store: string): Promise<boolean> {
  const [found] = await filesIn(store);
  return found !== undefined && (await stat(join(found.parentPath, found.name))).size > 1e6;
}

test("a put that is killed leaves no document", async () => {
  const store = join(folder, "killed");
  await ended(["documents", "put", await large("endless.pdf", 50e9)], store, "SIGKILL");
  const left = await filesIn(store);
  expect(left.map(({ name }) => name)).toEqual([expect.stringMatching(/^\.[0-9a-f]{32}\./)]);
  const uri = `document:${left[0]!.name.slice(1, 33)}`;
  const read = await commandLine(["documents", "get", uri], {
    env: { ...env, TRUSTFLOW_DOCUMENTS__DIRECTORY: store },
  });
  expect(read).toMatchObject({ code: 3, stdout: "" });
  await rm(store, { recursive: true });
});

test("a damaged document leaves no file, and ends with an error", async () => {
  const reference = await put(join(folder, "letter.pdf"));
  // Two whole chunks of four are left.
  await truncate(stored(reference), 2 + 2 + 43 + 2 * 65_552);
  const out = join(folder, "damaged");
  const saved = await commandLine(["documents", "get", reference.uri, "--out", out], { env });
  expect(saved.code).toBe(1);
  expect(saved.stderr).toContain(reference.uri);
  expect(await readdir(out)).toEqual([]);
  const shown = await commandLine(["documents", "get", reference.uri], { env });
  expect(shown.code).toBe(1);
  expect(shown.stdout.length).toBeLessThan(pdf.length);
});

test.each([
  ["a file that is not there", "none.pdf", undefined, "no such file"],
  ["an empty file", "empty.pdf", "", "is empty"],
  ["a folder", ".", undefined, "a folder"],
  ["a file that does not tell what it is", "note.txt", "a note", "--media-type"],
])("%s is refused", async (_, name, content, message) => {
  const file = join(folder, name);
  if (content !== undefined) await writeFile(file, content);
  const { code, stderr } = await commandLine(["documents", "put", file], { env });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
