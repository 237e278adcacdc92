import { beforeAll, expect, test } from "vitest";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateKeyRing } from "../../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { recipientAddress } from "../../processes/send-postal/inputs.js";
import { commandOf, contractOf, processes } from "../../../src/contracts/registry.js";
import { commandLine } from "../in-process.js";
import { temporaryFolder } from "../../harness/temporary.js";

const folder = await temporaryFolder();
const letter = {
  document: { path: "letter.pdf" },
  recipientName: "A Very Private Name",
  recipientAddress,
};

beforeAll(async () => {
  await writeFile(join(folder, "letter.pdf"), "%PDF-1.4\n%%EOF\n");
  await writeFile(join(folder, "letter.txt"), "not a PDF");
});

async function dryRun(
  input: unknown,
  args: string[] = [],
  env: Record<string, string> = {},
  command = "send-postal",
) {
  const file = join(folder, "input.json");
  await writeFile(file, typeof input === "string" ? input : JSON.stringify(input));
  const { code, stdout, stderr } = await commandLine(
    [command, "--input", file, "--dry-run", "--json", ...args],
    { env },
  );
  return {
    code,
    stderr,
    out: stdout === "" ? undefined : (JSON.parse(stdout) as Record<string, unknown>),
  };
}

test("a valid input needs neither Temporal nor configuration, and says what was not checked", async () => {
  const { code, out } = await dryRun(letter, ["--id", "order-7"]);
  expect(code).toBe(0);
  expect(out).toMatchObject({ valid: true, process: "sendPostal", id: "order-7" });
  expect(String(out?.["notChecked"])).toMatch(/account "default"/);
});

const message = { providerFields: { to: "+34600000000", attachment: { path: "missing.pdf" } } };

// What the contracts refuse: test/contracts. Of files: start-input.test.ts.
test.each(processes)(
  "what `trustflow example %s` prints is taken, comments and all, and it is said what only the provider can check",
  async (name) => {
    const { stdout } = await commandLine(["example", name]);
    expect(stdout).toContain("  // ");
    const { code, out } = await dryRun(stdout, [], {}, commandOf(name));
    expect([code, out]).toMatchObject([0, { valid: true, process: name }]);
    const { notChecked } = contractOf(name).command;
    const accounts = expect.stringMatching(/account "default" of /);
    expect(out?.["notChecked"]).toEqual(expect.arrayContaining([accounts, notChecked]));
  },
);

test("an account that is configured here is known", async () => {
  const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__";
  const env = {
    [`${account}BASE_URL`]: "http://127.0.0.1:1",
    [`${account}USERNAME`]: "user",
    [`${account}PASSWORD`]: "password",
    [`${account}API_KEY`]: "key",
  };
  const { out } = await dryRun(message, [], env, "send-message");
  expect(String(out?.["notChecked"])).not.toContain("account");
});

test("a dry run stores nothing", async () => {
  const directory = join(folder, "store");
  const env = {
    TRUSTFLOW_DOCUMENTS__DIRECTORY: directory,
    TRUSTFLOW_KEYS__DOCUMENTS: generateKeyRing(),
  };
  expect((await dryRun(letter, [], env)).code).toBe(0);
  await expect(readdir(directory)).rejects.toThrow("ENOENT");
});

test("a stored document is looked up", async () => {
  const ring = generateKeyRing();
  const directory = join(folder, "documents");
  const env = { TRUSTFLOW_DOCUMENTS__DIRECTORY: directory, TRUSTFLOW_KEYS__DOCUMENTS: ring };
  const store = new DocumentStore(new DirectoryDriver(directory), KeyRing.parse(ring));
  const document = await store.put(Buffer.from("%PDF-1.4"), "application/pdf");
  expect((await dryRun({ ...letter, document }, [], env)).code).toBe(0);
  await store.delete(document.uri);
  const { code, stderr } = await dryRun({ ...letter, document }, [], env);
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({ fields: [{ path: "document" }] });
});

test.each([
  ["what is not JSON", '{\n"recipientName": "A Very Private Name",\n oops }', "line 3"],
  ["an error behind comments", '{\n  // one\n  /* two\n  three */ "a": 1,\n}', "line 5"],
])(
  "%s is refused with the line of the file, in one line, and not quoted",
  async (_, text, line) => {
    const { code, stderr, out } = await dryRun(text);
    expect([code, out]).toEqual([2, undefined]);
    const { fields } = JSON.parse(stderr) as { fields: object[] };
    expect(fields).toMatchObject([{ path: "--input", problem: expect.stringContaining(line) }]);
    expect(stderr).not.toContain("Private");
    expect(stderr.trimEnd()).not.toContain("\n");
  },
);

test("an input that Temporal would not take is refused", async () => {
  const { code, stderr } = await dryRun({ ...letter, issuerComments: "x".repeat(1_500_000) });
  expect([code, stderr]).toEqual([2, expect.stringContaining("is over 1.5 MB as JSON")]);
});

test("- reads stdin, and paths are relative to the working directory", async () => {
  const { code } = await commandLine(["send-postal", "--input", "-", "--dry-run"], {
    cwd: folder,
    stdin: JSON.stringify(letter),
  });
  expect(code).toBe(0);
});
