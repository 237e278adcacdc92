// With `--json`, each command prints on stdout one JSON document, or JSON Lines where its help says so, on the whole system. A new command
// that is not run here fails the test.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Command } from "commander";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgram } from "../../../src/cli/program.js";
import { commandOf, processes } from "../../../src/contracts/registry.js";
import { roleNames } from "../../../packages/dev/src/stack/role.js";
import { newSecret } from "../../../src/webhooks/signature.js";
import { commandLine } from "../../cli/in-process.js";
import { statusWhere, startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { assertionOf } from "../../processes/issue-certificate/inputs.js";
import { identityInput } from "../../processes/verify-identity/inputs.js";
import { testErase } from "./erase.js";

/** They run until they are stopped; other tests read the JSON line with which they are ready, or the report of their end. */
const staying = [
  ...["dev", "demo", "rehearse", "worker", "receiver", "relay", "codec-server", "sandbox"],
];
/** A document for each event or row, however many come. */
const inLines = ["watch", "recipients", "logs"];

let system: TestStack;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trustflow-json-"));
  system = await startTestStack({ sandboxSpeed: "auto", roles: roleNames });
  env = {
    ...system.stack.env,
    TRUSTFLOW_WEBHOOKS__BILLING__URL: "http://localhost:9/hooks",
    TRUSTFLOW_WEBHOOKS__BILLING__SECRET: newSecret(),
    TRUSTFLOW_SANDBOX__URL: system.stack.sandboxUrl,
  };
}, 120_000);
afterAll(async () => {
  await system?.close();
  await rm(folder, { recursive: true });
}, 60_000);

// First: it counts what the tables hold.
describe("trustflow erase", () => testErase(() => system));

/** A group of commands is none, but for the sandbox, which runs by its own name. */
function namesIn(command: Command, path = ""): string[] {
  if (command.commands.length === 0) return [path];
  const inner = command.commands.flatMap((one) => namesIn(one, `${path} ${one.name()}`.trim()));
  return path === "sandbox" ? [path, ...inner] : inner;
}

const parsed = (name: string, stdout: string): unknown[] =>
  inLines.includes(name)
    ? stdout
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
    : [JSON.parse(stdout)];

test("each command prints JSON with --json, and nothing else on stdout", async () => {
  const run = new Set<string>();
  /** `args` begins with the name of the command. Returns what it printed. */
  async function facts(name: string, ...args: string[]): Promise<never> {
    run.add(name);
    const { stdout, stderr } = await commandLine([...name.split(" "), ...args, "--json"], { env });
    const said = `trustflow ${name}: ${stdout.slice(0, 300)}${stderr}`;
    expect([said, stdout]).toEqual([said, expect.stringMatching(/^[[{][^]*[\]}]\n$/)]);
    return parsed(name, stdout)[0] as never;
  }
  const written = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };

  for (const processName of processes) {
    const example: object = await facts("example", processName);
    const file = await written(`${processName}.json`, JSON.stringify(example));
    const command = [commandOf(processName), "--input", file] as const;
    await facts(...command, "--dry-run");
    const started: { workflowId: string } = await facts(...command, "--id", `json-${processName}`);
    expect(started.workflowId).toBe(`${processName}/json-${processName}`);
  }
  const call = await system.client.verifyIdentity("json-call", identityInput("json-call", "open"));
  const letter = "sendPostal/json-sendPostal";
  const signer = "signOneShot/json-signOneShot";
  const batch = "sendNoticeBatch/json-sendNoticeBatch";
  await facts("await-otp", signer);
  await facts("otp", signer, "000000");
  await facts("resend-otp", signer);
  await facts("accept-contract", signer);
  await facts("decide-video", signer, "--decision", "approve");
  const fields = await written("fields.json", "{}");
  await facts("update-video", signer, "--fields", fields);
  const assertion = await written("assertion", assertionOf("json-holder", new Date()));
  await facts("assertion", "issueCertificate/json-issueCertificate", "--file", assertion);
  await facts("request-affidavit", letter);
  await facts("cancel", letter);
  await facts("reject-call", call.workflowId);
  await facts("watch", "sendMessage/json-sendMessage");
  await facts("result", "sendMessage/json-sendMessage");
  await facts("status", letter);
  await facts("logs", "--since", "1h");
  await facts("list");
  const csv = await written("messages.csv", "id,providerFields.to\njson-many,+34600000000\n");
  await facts("start", "sendMessage", "--csv", csv, "--result", join(folder, "result.csv"));
  await facts("resolve", letter, "--by", "Ana", "--decision", "retry");

  await system.client.handle(batch).result();
  await facts("recipients", batch);
  await facts("report", batch);
  await facts("evidence", letter, "--out", join(folder, "evidence"));
  const pdf = await written("letter.pdf", "%PDF-1.7 a letter");
  const { uri }: { uri: string } = await facts("documents put", pdf);
  await facts("documents get", uri, "--out", join(folder, "fetched"));
  await facts("documents quarantine");
  await facts("documents release", uri);
  await facts("schema", "sendPostal");

  const callbacks: { id: string }[] = await facts("callbacks list");
  for (const state of ["parked", "late", "surplus"]) await facts(`callbacks ${state}`);
  await facts("callbacks show", callbacks[0]?.id ?? "");
  await facts("callbacks replay", callbacks[0]?.id ?? "");
  await facts("callbacks address", "one-shot-signature");
  await facts("webhooks secret");
  await facts("webhooks test", "billing");
  const deliveries: { id: string }[] = await facts("webhooks list");
  await facts("webhooks show", deliveries[0]?.id ?? "");
  await facts("webhooks replay", deliveries[0]?.id ?? "");

  const { references } = await statusWhere(
    system.client.handle(batch),
    (status) => status.references["batchId"] !== undefined,
  );
  const notice = await statusWhere(
    system.client.handle("sendNotice/json-sendNotice"),
    (status) => status.references["uniqueId"] !== undefined,
  );
  await facts("provider letters");
  await facts("provider notices");
  await facts("provider attachments", references["batchId"] ?? "");
  await facts("provider affidavits", notice.references["uniqueId"] ?? "");
  await facts("alert-emails", "desk", "desk@example.com");
  await facts("erase", "sendMessage/json-sendMessage", "--dry-run");
  await facts("erasures");
  await facts("doctor");
  const configuration = join(folder, "trustflow.toml");
  const url = "evi-post.baseUrl=https://post.test.example.com";
  const account = ["--provider", "evi-post", "--set", url, "--set", "evi-post.username=acme"];
  await facts("init", ...account, "--file", configuration);
  env["DATABASE_URL"] = system.stack.databaseUrl;
  await facts("migrate");
  await facts("replay");
  env["TRUSTFLOW_WORKER__DEPLOYMENT"] = "json";
  await facts("release");
  await facts("cleanup", "--dry-run");
  for (const what of ["generate", "public"]) await facts(`keys ${what}`);
  await facts("keys signing-token", "--out", join(folder, "token"));
  await facts("keys operator", "ana");

  const reports = ["state", "ledger", "messages", "requests", "callbacks", "clock", "faults"];
  for (const what of [...reports, "accounts"]) await facts(`sandbox ${what}`);
  const { items }: { items: { id: string }[] } = await facts("sandbox items");
  await facts("sandbox item", items[0]?.id ?? "");
  await facts("sandbox publish", items[0]?.id ?? "");
  await facts("sandbox move", items[0]?.id ?? "", "--state", "Closed", "--outcome", "Delivered");
  await facts("sandbox fault", "evi-post.submit", "--kind", "slow", "--ms", "1");
  await facts("sandbox clear-faults");
  await facts("sandbox advance", "1s");
  await facts("sandbox reset");
  await facts("completion", "bash");

  const known = namesIn(await createProgram());
  expect([...run, ...staying].toSorted()).toEqual(known.toSorted());
}, 300_000);
