import { beforeAll, expect, test } from "vitest";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateKeyRing } from "../../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { recipientAddress } from "../../processes/send-postal/inputs.js";
import { assertionInput, holderInput } from "../../processes/issue-certificate/inputs.js";
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

async function fieldsOf(
  input: unknown,
  args: string[] = [],
  command = "send-postal",
): Promise<{ path: string; problem: string }[]> {
  const { code, stderr, out } = await dryRun(input, args, {}, command);
  expect(code).toBe(2);
  expect(out).toBeUndefined();
  expect(stderr.trimEnd()).not.toContain("\n");
  return (JSON.parse(stderr) as { fields: { path: string; problem: string }[] }).fields;
}

test("a valid input needs neither Temporal nor configuration, and says what was not checked", async () => {
  const { code, out } = await dryRun(letter, ["--id", "order-7"]);
  expect(code).toBe(0);
  expect(out).toMatchObject({ valid: true, process: "sendPostal", id: "order-7" });
  expect(String(out?.["notChecked"])).toMatch(/account "default"/);
});

const message = { providerFields: { to: "+34600000000", attachment: { path: "missing.pdf" } } };

const envelope = {
  request: { providerFields: { path: "missing.pdf" } },
  documents: [{ name: "letter.pdf", document: { path: "letter.pdf" } }],
};

test.each([
  ["issue-certificate", "issueCertificate", holderInput("x"), /age of an assertion/],
  ["issue-certificate", "issueCertificate", assertionInput("x", new Date()), /age of an assertion/],
  ["send-message", "sendMessage", message, /only the gateway knows/],
  ["sign-envelope", "signEnvelope", envelope, /only the two hosts know/],
])("%s checks its own contract, and says what only the provider can", async (...each) => {
  const [command, processName, input, more] = each;
  const { code, out } = await dryRun(input, [], {}, command);
  expect(code).toBe(0);
  expect(out).toMatchObject({ valid: true, process: processName });
  expect(String(out?.["notChecked"])).toMatch(/account "default" of /);
  expect(String(out?.["notChecked"])).toMatch(more);
});

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

test("a file of an envelope that is not there is named by its place", async () => {
  const missing = { name: "other.pdf", document: { path: "missing.pdf" } };
  const documents = [...envelope.documents, missing];
  const [field] = await fieldsOf({ ...envelope, documents }, [], "sign-envelope");
  expect(field).toMatchObject({ path: "documents.1.document.path" });
});

test("a message without a payload, or over what Temporal takes, is refused", async () => {
  const fieldsOfMessage = (input: object) => fieldsOf(input, [], "send-message");
  expect(await fieldsOfMessage({ providerFields: {} })).toEqual([
    { path: "providerFields", problem: "must hold the message" },
  ]);
  expect(await fieldsOfMessage({ providerFields: { text: "x".repeat(1_500_000) } })).toEqual([
    { path: "(input)", problem: "is over 1.5 MB as JSON" },
  ]);
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

test("a stored document is looked up; one that is missing or no PDF is refused", async () => {
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
  const text = await store.put(Buffer.from("not a PDF"), "application/pdf");
  const refused = await dryRun({ ...letter, document: text }, [], env);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("is not a PDF");
});

test("each invalid field is named in the caller's spelling", async () => {
  const { region: _, ...address } = letter.recipientAddress;
  const input = {
    ...letter,
    recipientAddress: { ...address, country: "Spain" },
    extra: 1,
    options: { language: "English" },
  };
  const paths = (await fieldsOf(input)).map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["recipientAddress.country", "extra", "options.language"]),
  );
});

test.each([
  // Of files: start-input.test.ts.
  [{ path: "missing.pdf" }, "document.path"],
  [{ path: "letter.pdf", mediaType: "text/plain" }, "document.mediaType"],
  [{ base64: "bm90IGEgUERG", mediaType: "application/pdf" }, "document.base64"],
  [
    { uri: "file:letter.pdf", sha256: "0".repeat(64), size: 1, mediaType: "application/pdf" },
    "document.uri",
  ],
])("the document %j is refused, naming %s", async (document, path) => {
  expect((await fieldsOf({ ...letter, document })).map((field) => field.path)).toContain(path);
});

test("what is not JSON is refused with its line, and not quoted", async () => {
  const [field] = await fieldsOf('{\n"recipientName": "A Very Private Name",\n oops }');
  expect(field).toMatchObject({ path: "--input" });
  expect(field?.problem).toContain("line 3");
  expect(field?.problem).not.toContain("Private");
});

test("- reads stdin, and paths are relative to the working directory", async () => {
  const { code } = await commandLine(["send-postal", "--input", "-", "--dry-run"], {
    cwd: folder,
    stdin: JSON.stringify(letter),
  });
  expect(code).toBe(0);
});

test.each([
  ["sendPostal", "send-postal"],
  ["sendNoticeBatch", "send-notice-batch"],
])(
  "what `trustflow example %s` prints is taken as it is, comments and all",
  async (name, command) => {
    const { stdout } = await commandLine(["example", name]);
    expect(stdout).toContain("  // ");
    expect(await dryRun(stdout, [], {}, command)).toMatchObject({ code: 0, out: { valid: true } });
  },
);

test("an error behind comments names the line of the file", async () => {
  const { code, stderr } = await dryRun('{\n  // one\n  /* two\n  three */ "a": 1,\n}');
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("(line 5)") });
});
