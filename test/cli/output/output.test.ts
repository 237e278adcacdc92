import { expect, test } from "vitest";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { printPieces, table } from "../../../src/cli/output/output.js";
import { rings } from "../../../src/cli/keys/secret-files.js";
import { paint } from "../../../src/cli/output/terminal.js";
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
  const rows = [
    ["a-long-id", "open"],
    ["b", undefined],
  ];
  expect(table(["ID", "STATE"], rows).source).toBe("ID         STATE\na-long-id  open\nb");
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
  expect(written.filter((name) => !name.startsWith("database_"))).toEqual([
    ...rings.map((name) => `keys_${name}`),
    ...["keys_inbox_public", "keys_secrets_public", "codec_server_token", "web_ui_users"],
  ]);
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
  const run = (line: string) =>
    commandLine([...`sandbox ${line}`.split(" "), "--url", sandbox.url, "--json"]);
  const fault = await run("fault evi-post.submit --kind reject --times always");
  expect(JSON.parse(fault.stdout)).toMatchObject({
    ...{ operation: "evi-post.submit", kind: "reject", times: "always" },
  });
  expect(JSON.parse((await run("faults")).stdout)).toHaveLength(1);
  expect((await run("clear-faults")).code).toBe(0);
  const before = sandbox.clock.now();
  expect((await run("advance 60d")).code).toBe(0);
  expect(sandbox.clock.now() - before).toBe(60 * 86_400_000);
  const ledger = JSON.parse((await run("ledger")).stdout);
  expect(ledger).toMatchObject({ effects: [], duplicates: [], violations: [] });
  expect((await run("item none")).code).toBe(3);
});
