import { expect, test } from "vitest";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { printPieces, table } from "../../../src/cli/output/output.js";
import { paint, terminal } from "../../../src/cli/output/terminal.js";
import { processes } from "../../../src/contracts/registry.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import { BoxOpener, BoxSealer, publicRingOf } from "../../../src/crypto/sealed-box.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { commandLine } from "../in-process.js";
import { temporaryFolder } from "../../harness/temporary.js";
import { ofFile } from "../../harness/of-file.js";

const folder = await temporaryFolder();

const sandbox = ofFile(() => startSandbox({ speed: "manual" }));

test("colour needs a terminal, and NO_COLOR takes it away there too", () => {
  const screen = { isTTY: true } as NodeJS.WriteStream;
  const before = { ...process.env };
  delete process.env["NO_COLOR"];
  process.env["TERM"] = "xterm";
  expect(paint("red", "x", screen).source).toBe("\u001b[31mx\u001b[39m");
  expect(paint("red", "x", { isTTY: false } as NodeJS.WriteStream).source).toBe("x");
  process.env["NO_COLOR"] = "1";
  expect(paint("red", "x", screen).source).toBe("x");
  process.env = before;
});

test("however much is printed, no listener stays on stdout", async () => {
  const before = process.stdout.eventNames().map((name) => process.stdout.listenerCount(name));
  const parts = Array.from({ length: 20 }, () => [Buffer.from("")]);
  await printPieces(...parts);
  expect(process.stdout.eventNames().map((name) => process.stdout.listenerCount(name))).toEqual(
    before,
  );
});

test("a table has its columns under their headings", () => {
  expect(
    table(
      ["ID", "STATE"],
      [
        ["a-long-id", "open"],
        ["b", undefined],
      ],
    ).source,
  ).toBe("ID         STATE\na-long-id  open\nb");
});

test("text from elsewhere cannot control the terminal", () => {
  expect(terminal`x: ${"a\u001b[2Jb\rc\n       d"}`.source).toBe("x: a[2Jb c d");
});

test.each(["input", "result", "status"])("schema --part %s prints JSON Schema", async (part) => {
  for (const processName of processes) {
    const { code, stdout } = await commandLine(["schema", processName, "--part", part]);
    expect(code).toBe(0);
    const { anyOf, type } = JSON.parse(stdout) as { anyOf?: object[]; type?: string };
    for (const form of anyOf ?? [{ type }]) expect(form).toMatchObject({ type: "object" });
  }
});

test("keys generate prints a ring that can be read, and another one each time", async () => {
  const one = await commandLine(["keys", "generate"]);
  const other = await commandLine(["keys", "generate"]);
  expect(KeyRing.parse(one.stdout.trim()).active.id).toBe("k1");
  expect(one.stdout).not.toBe(other.stdout);
});

test("keys generate --env names what a deployment needs", async () => {
  const { stdout } = await commandLine(["keys", "generate", "--env", "--id", "n1"]);
  const names = stdout
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0]);
  expect(names).toEqual([
    "TRUSTFLOW_KEYS__CODEC",
    "TRUSTFLOW_KEYS__CODEC_WRITE",
    "TRUSTFLOW_KEYS__SECRETS",
    "TRUSTFLOW_KEYS__CALLBACK",
    "TRUSTFLOW_KEYS__JOURNAL",
    "TRUSTFLOW_KEYS__INBOX",
    "TRUSTFLOW_KEYS__DOCUMENTS",
    "TRUSTFLOW_KEYS__SECRETS_PUBLIC",
    "TRUSTFLOW_KEYS__INBOX_PUBLIC",
    "TRUSTFLOW_CODEC_SERVER__TOKEN",
  ]);
});

test("keys generate --secrets writes the files of a deployment into a private folder, and keeps existing ones", async () => {
  const directory = join(folder, "secrets");
  const run = () => commandLine(["keys", "generate", "--secrets", directory, "--json"]);
  const { written } = JSON.parse((await run()).stdout) as { written: string[] };
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const text = (name: string) => readFile(join(directory, name), "utf8");
  expect(publicRingOf(KeyRing.parse((await text("keys_inbox")).trim()))).toBe(
    (await text("keys_inbox_public")).trim(),
  );
  expect(new Set(await Promise.all(written.map(text))).size).toBe(written.length);
  const before = await text("database_worker");
  await rm(join(directory, "keys_journal"));
  expect(JSON.parse((await run()).stdout)).toEqual({ written: ["keys_journal"] });
  expect(await text("database_worker")).toBe(before);
});

test("keys public prints what seals to the first key of keys.inbox", async () => {
  const env = { TRUSTFLOW_KEYS__INBOX: `${generateKeyRing("k2")},${generateKeyRing("k1")}` };
  const { stdout } = await commandLine(["keys", "public"], { env });
  const sealed = new BoxSealer(KeyRing.parse(stdout.trim())).seal(Buffer.from("{}"), "here");
  const opener = new BoxOpener(KeyRing.parse(env.TRUSTFLOW_KEYS__INBOX.split(",")[0] ?? ""));
  expect(opener.open(sealed, "here").toString()).toBe("{}");
  const without = await commandLine(["keys", "public"]);
  expect([without.code, without.stderr]).toEqual([
    4,
    expect.stringContaining("keys.inbox is required"),
  ]);
});

test("the sandbox is steered by its sub-commands", async () => {
  const at = ["--url", sandbox.url, "--json"];
  const fault = await commandLine([
    "sandbox",
    "fault",
    "evi-post.submit",
    "--kind",
    "reject",
    "--times",
    "always",
    ...at,
  ]);
  expect(JSON.parse(fault.stdout)).toMatchObject({
    operation: "evi-post.submit",
    kind: "reject",
    times: "always",
  });
  const faults = await commandLine(["sandbox", "faults", ...at]);
  expect(JSON.parse(faults.stdout)).toHaveLength(1);
  expect((await commandLine(["sandbox", "clear-faults", ...at])).code).toBe(0);
  const before = sandbox.clock.now();
  expect((await commandLine(["sandbox", "advance", "60d", ...at])).code).toBe(0);
  expect(sandbox.clock.now() - before).toBe(60 * 86_400_000);
  const ledger = await commandLine(["sandbox", "ledger", ...at]);
  expect(JSON.parse(ledger.stdout)).toMatchObject({ effects: [], duplicates: [], violations: [] });
  expect((await commandLine(["sandbox", "item", "none", "--url", sandbox.url])).code).toBe(3);
});

test("keys generate --out makes a file for its owner alone, fills in the template, and overwrites nothing", async () => {
  const [template, out] = [join(folder, "template"), join(folder, "made.env")];
  await writeFile(template, "# A comment\nOTHER=\nTRUSTFLOW_KEYS__CODEC=\n");
  const args = ["keys", "generate", "--env", "--template", template, "--out", out];
  const { code, stdout, stderr } = await commandLine(args);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: "",
    stderr: `${out} is written; only you can read it\n`,
  });
  expect((await stat(out)).mode & 0o777).toBe(0o600);
  const written = await readFile(out, "utf8");
  const lines = written.split("\n");
  expect(lines.slice(0, 2)).toEqual(["# A comment", "OTHER="]);
  const value = (name: string) =>
    lines.findLast((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  expect(KeyRing.parse(value("TRUSTFLOW_KEYS__CODEC") ?? "").active.id).toBe("k1");
  expect(lines[2]).toContain("TRUSTFLOW_KEYS__CODEC=k1:");
  expect(value("TRUSTFLOW_CODEC_SERVER__TOKEN")).toMatch(/^[\w-]{32}$/);
  const again = await commandLine(args);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain("--out: the file exists already and is not overwritten");
  expect(await readFile(out, "utf8")).toBe(written);
  const filled = await commandLine([
    "keys",
    "generate",
    "--env",
    "--template",
    out,
    "--out",
    `${out}2`,
  ]);
  expect(filled.code).toBe(2);
  expect(filled.stderr).toContain("--template: already has a value for TRUSTFLOW_KEYS__CODEC");
});

test("keys generate --out takes a single ring too; --template needs --env and --out", async () => {
  const out = join(folder, "ring");
  const json = await commandLine(["keys", "generate", "--out", out, "--json"]);
  expect(JSON.parse(json.stdout)).toEqual({ file: out });
  expect(KeyRing.parse((await readFile(out, "utf8")).trim()).active.id).toBe("k1");
  const { code, stderr } = await commandLine(["keys", "generate", "--template", out]);
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--template"),
  });
});
