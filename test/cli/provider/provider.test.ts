// `provider`: what EviPost and EviNotice hold is read from them, by every filter that they document, and no file is written by halves
// (P2 §4.1–4.3).
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { generateKeyRing } from "../../../src/crypto/key-ring.js";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { samplePdf } from "../../harness/fixtures/fixtures.js";
import { call, submission } from "../../../packages/sandbox/test/caller.js";
import { sender, smallest } from "../../../packages/sandbox/test/providers/evi-notice/sender.js";
import { commandLine } from "../in-process.js";
import { ofFile } from "../../harness/of-file.js";
import { temporaryFolder } from "../../harness/temporary.js";

const sandbox = ofFile(() => startSandbox({ speed: "manual" }));
const folder = await temporaryFolder();
let env: Record<string, string>;

beforeAll(() => {
  const account = (provider: string) => ({
    [`TRUSTFLOW_ACCOUNTS__DEFAULT__${provider}__BASE_URL`]: sandbox.url,
    [`TRUSTFLOW_ACCOUNTS__DEFAULT__${provider}__USERNAME`]: "sandbox",
    [`TRUSTFLOW_ACCOUNTS__DEFAULT__${provider}__PASSWORD`]: "sandbox",
  });
  env = {
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(folder, "store"),
    TRUSTFLOW_KEYS__DOCUMENTS: generateKeyRing(),
    ...account("EVI_POST"),
    ...account("EVI_NOTICE"),
  };
});

const provider = (...args: string[]) => commandLine(["provider", ...args], { env });

async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await provider(...args, "--json");
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout);
}

async function letter(lookupKey: string): Promise<string> {
  const body = submission({ LookupKey: lookupKey });
  return (await call(sandbox.url, "/v1/EviPost/Submit", { body })).body.uniqueId;
}

const sha256 = createHash("sha256").update(samplePdf).digest("hex");

test("letters are found by id and by lookup key, and listed page by page", async () => {
  const ids = [await letter("one"), await letter("two"), await letter("three")];
  const found = async (...args: string[]) =>
    (await json("letters", ...args)).results.map((one: any) => one.evidenceId);
  expect(await found("--id", ids[1]!, "--id", ids[2]!)).toEqual([ids[1], ids[2]]);
  expect(await found("--lookup-key", "two")).toEqual([ids[1]]);
  expect(await found("--offset", "1", "--limit", "1")).toEqual([ids[1]]);
  const { stdout, stderr } = await provider("letters", "--limit", "2");
  expect(stdout).toMatch(/^ID +STATE +OUTCOME +CREATED +LOOKUP KEY\n/);
  expect(stdout).toContain(ids[0]!);
  expect(stderr).toBe("More of 3 letters: --offset 2 shows them\n");
});

test("--out saves the PDF that EviPost has, and its digest is that of what was submitted", async () => {
  const id = await letter("with its document");
  const at = join(folder, "letters");
  const [found] = (await json("letters", "--id", id, "--out", at)).results;
  expect(found).toMatchObject({ evidenceId: id, file: join(at, `${id}.pdf`), sha256 });
  // The bytes are in the file, and not a second time in the output.
  expect(JSON.stringify(found)).not.toContain(samplePdf.toString("base64").slice(0, 100));
  expect((await readFile(found.file)).equals(samplePdf)).toBe(true);
  const table = await provider("letters", "--id", id, "--out", at);
  expect(table.stdout).toContain(sha256);
});

test("notices are found by owner, batch, state and outcome", async () => {
  const notices = sender(sandbox);
  const control = sandboxControl(sandbox.url);
  const [one, two] = [
    await notices.submit(),
    await notices.submit({ ...smallest, LookupKey: "k" }),
  ];
  await control.move(two, { state: "Closed", outcome: "Refused" });
  const values: Record<string, unknown> = {};
  const recipients = "address;legalname\nana@example.com;Ana\n";
  const settings = { Subject: "Your contract" };
  const batch = { description: "June", settings, body: "<p>Read it.</p>", recipients };
  const start = { State: "Submitted" };
  await notices.bring({ batch: { ...batch, start, until: true } }, values);
  const found = async (...args: string[]) =>
    (await json("notices", ...args)).results.map((notice: any) => notice.id);
  expect(await found("--state", "Closed")).toContain(two);
  expect(await found("--outcome", "Refused")).toEqual([two]);
  expect(await found("--lookup-key", "k")).toEqual([two]);
  const ofBatch = await found("--linked-id", String(values["batchId"]));
  expect(ofBatch).toHaveLength(1);
  expect([one, two]).not.toContain(ofBatch[0]);
  expect(await found("--owner", "sandbox@sandbox.invalid")).toHaveLength(3);
  expect(await found("--owner", "nobody@example.com")).toEqual([]);
  const { stdout, stderr } = await provider("notices", "--limit", "1");
  expect(stdout).toContain(one);
  const cursor = (/--cursor (\S+)/.exec(stderr)?.[1] ?? "").replaceAll("'", "");
  expect((await found("--limit", "1", "--cursor", cursor))[0]).toBe(two);
});

test("the attachments of a batch are listed, and saved as EviNotice has them", async () => {
  const values: Record<string, unknown> = {};
  const attachments = ["one", "two"].map((name) => ({
    ...{
      fileName: `${name}.txt`,
      mimeType: "text/plain",
      content: Buffer.from(`The ${name}.`).toString("base64"),
    },
  }));
  await sender(sandbox).bring({ batch: { description: "July", attachments } }, values);
  const batchId = String(values["batchId"]);
  const listed = await json("attachments", batchId);
  expect(listed.map(({ fileName, size }: any) => [fileName, size])).toEqual([
    ["one.txt", 8],
    ["two.txt", 8],
  ]);
  const at = join(folder, "attachments");
  const saved = await json("attachments", batchId, "--out", at);
  for (const [index, { file, sha256: digest }] of saved.entries()) {
    const bytes = await readFile(file);
    expect(bytes.toString("base64")).toBe(attachments[index]?.content);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest);
  }
  expect(await readdir(at)).toHaveLength(2);
});

test.each([
  [["letters", "--id", "a,b"], 2, "--id: must be a UUID"],
  [["notices", "--linked-id", "campaign-7"], 2, "--linked-id: must be a UUID"],
  [["attachments", ".."], 2, "batch-id: must be a UUID"],
  [["affidavits", "../Query"], 2, "notice: must be a UUID"],
  [["letters", "--lookup-key", ""], 2, "--lookup-key: must not be empty or have a comma"],
  [["letters", "--limit", "0"], 2, "--limit"],
  [["letters", "--offset", "-1"], 2, "--offset"],
  [["notices", "--limit", "101"], 2, "must be a whole number from 1 to 100"],
  [
    ["notices", "--account", "other"],
    2,
    'accounts.other.evi-notice is not configured. With "trustflow dev", source',
  ],
  [["notices", "--cursor", "of another"], 1, "400"],
  [["attachments", "0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11"], 3, "404"],
])("provider %j ends with %d and says why", async (args, code, message) => {
  const refused = await provider(...args);
  expect([refused.code, refused.stdout]).toEqual([code, ""]);
  expect(refused.stderr).toContain(message);
});

test("a wrong password is told without it", async () => {
  const wrong = { ...env, TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__PASSWORD: "a-wrong-one" };
  const { code, stderr } = await commandLine(["provider", "letters"], { env: wrong });
  expect(code).toBe(4);
  expect(stderr).toContain("401");
  expect(stderr).not.toContain("a-wrong-one");
});
