// `trustflow erase` on the whole system: after it a marker that stood in input, callbacks and documents is in no store any more, however
// many keys one has, and the id sends nothing again.
import { beforeAll, expect, test } from "vitest";
import { cp, rm } from "node:fs/promises";
import { pdf } from "../../../packages/sandbox/src/exchange/pdf.js";
import { eventOf, addressOf, post } from "../../processes/send-postal/callbacks.js";
import { codeFor, holderInput } from "../../processes/issue-certificate/inputs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { OpenedStores } from "./opened-stores.js";
import { eventually } from "../../harness/outages/wait.js";
import { statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { commandLine } from "../../cli/in-process.js";

const marker = "qzxwvkjyhm";
/** The reader's data too, which are on their way to the result. */
const callbackData = { Details: marker, Recipient: marker, IpAddress: marker };
const letter = "sendPostal/erased";
const certificate = "issueCertificate/erased";
const input = () =>
  letterInput("erased", "delivered", {
    document: {
      base64: pdf([`A letter to ${marker}`]).toString("base64"),
      mediaType: "application/pdf",
    },
    recipientAddress: { ...letterInput("", "").recipientAddress, streetAddress: marker },
    options: { certificationLevel: "Advanced" },
  });

/** On a system whose sandbox's clock moves only while it is waited for: codes live minutes. */
export function testErase(stack: () => TestStack): void {
  let system: TestStack;
  let stores: OpenedStores;

  async function run(...args: string[]) {
    const { code, stdout, stderr } = await commandLine(args, { env: system.stack.env });
    return { code, stdout, stderr, json: stdout.startsWith("{") ? JSON.parse(stdout) : undefined };
  }

  async function count(sql: string, ...values: unknown[]): Promise<number> {
    const { rows } = await system.pool.query<{ count: string }>(sql, values);
    return Number(rows[0]?.count);
  }

  /** How many callbacks the address of the process has brought, as it is counted for its quota. */
  const broughtTo = (workflowId: string) =>
    count(
      "select coalesce(sum(rows), 0) as count from trustflow.callback_addresses where workflow_id = $1",
      workflowId,
    );

  beforeAll(async () => {
    system = stack();
    stores = new OpenedStores(system);
    const handle = await system.client.sendPostal("erased", input());
    await statusWhere(handle, ({ phase }) => phase !== "submitting");
    expect(await post(addressOf(system, letter), eventOf({}, callbackData))).toBe(204);
    expect(await handle.result()).toMatchObject({
      reported: expect.arrayContaining([expect.objectContaining({ ipAddress: marker })]),
    });
    const holder = await system.client.issueCertificate("erased", holderInput(marker));
    await statusWhere(holder, ({ waitingFor }) => waitingFor === "the holder's code");
    expect(await holder.submitOtp(await codeFor(system.sandbox, marker))).toMatchObject({
      answer: "accepted",
    });
    await holder.result();
  }, 180_000);

  test("what may not be erased, and what it is asked wrongly, is refused by a code, and keeps everything", async () => {
    const handle = await system.client.sendPostal("open", letterInput("open", "cancellable"));
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    const by = ["--by", "Ana"];
    for (const [args, code, said] of [
      [[handle.workflowId, ...by], 1, "is still open: only a finished process can be erased"],
      [[handle.workflowId, "--dry-run"], 1, "is still open"],
      [["sendPostal/nobody", ...by], 3, ""],
      [[letter], 2, "--by: is required"],
      [["erased", ...by], 2, ""],
    ] as const)
      expect([args, await run("erase", ...args)]).toMatchObject([
        args,
        { code, stderr: expect.stringContaining(said) },
      ]);
    expect(await count("select count(*) from trustflow.erasures")).toBe(0);
    expect(await handle.cancel()).toEqual({ answer: "cancelled" });
  }, 60_000);

  test("a dry run lists what would be erased, and the provider's data, and erases nothing", async () => {
    const { code, json } = await run("erase", letter, "--dry-run", "--json");
    expect(code).toBe(0);
    expect(json).toMatchObject({
      id: letter,
      dryRun: true,
      documents: { submitted: 1, affidavit: expect.any(Number) },
      runs: 1,
      shared: [],
      atProvider: [
        { provider: "evi-post", account: "default", operation: "submit", exists: "yes", count: 1 },
      ],
      references: [expect.stringMatching(/^[0-9a-f-]{36}$/)],
    });
    expect(json.callbacks).toBeGreaterThan(0);
    expect(await stores.placesOf(marker)).toEqual(["callbacks", "documents", "histories"]);
  }, 60_000);

  test("after it the marker is nowhere, in no backup without keys either, and the record says who and how many", async () => {
    const directory = system.stack.env["TRUSTFLOW_DOCUMENTS__DIRECTORY"] ?? "";
    const backup = `${directory}-backup`;
    await cp(directory, backup, { recursive: true });
    await rm(`${backup}/keys`, { recursive: true });
    const { rows: answers } = await system.pool.query<{ sealed: Buffer }>(
      "select sealed_answer as sealed from trustflow.effects where workflow_id = any($1) and sealed_answer is not null",
      [[letter, certificate]],
    );
    const sealedAnswer = answers[0]?.sealed ?? Buffer.alloc(0);
    const brought = await broughtTo(letter);
    expect(brought).toBeGreaterThan(0);
    expect((await stores.open(sealedAnswer)).includes("value")).toBe(true);

    const { code, json, stderr } = await run("erase", letter, "--by", "Ana Ruiz", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(json).toMatchObject({ by: "Ana Ruiz", finishedAt: expect.any(String), runs: 1 });
    const text = await run("erase", certificate, "--by", "Ana Ruiz");
    expect(text).toMatchObject({ code: 0, stderr: expect.stringContaining("The provider keeps") });
    expect(text.stdout).toContain("disposable-certificate (default): enroll, 1");

    expect(await stores.placesOf(marker)).toEqual([]);
    const opened = new OpenedStores(system, backup);
    for await (const [, bytes] of opened.files()) expect(bytes.includes(marker)).toBe(false);
    expect((await stores.open(sealedAnswer)).includes("value")).toBe(false);
    await rm(backup, { recursive: true });
    // What its address has brought stays counted: an erasure gives a leaked address no new quota.
    expect(await broughtTo(letter)).toBeGreaterThanOrEqual(brought);

    const owned = "select count(*) from trustflow.documents where workflow_id = $1";
    expect(await count(owned, letter)).toBe(0);
    for (const reference of json.references) expect(await stores.placesOf(reference)).toEqual([]);
    const { rows } = await system.pool.query(
      "select * from trustflow.erasures where workflow_id = $1",
      [letter],
    );
    expect(rows).toEqual([
      expect.objectContaining({ erased_by: "Ana Ruiz", documents: json.documents, runs: 1 }),
    ]);
    const listed = await run("erasures", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { workflowId: certificate, by: "Ana Ruiz" },
      { workflowId: letter, by: "Ana Ruiz" },
    ]);
  }, 120_000);

  test("a start under an erased id is refused by the client, and by the worker where it has no client of ours", async () => {
    await expect(system.client.sendPostal("erased", input())).rejects.toMatchObject({
      fields: [{ path: "id", problem: expect.stringContaining("was erased") }],
    });
    // The worker still remembers the key: it is the journal that refuses.
    for (const [workflowId, given] of [
      [letter, input()],
      [certificate, holderInput(marker)],
    ] as const) {
      const failed = system.client.temporal.workflow.execute(workflowId.split("/")[0]!, {
        workflowId,
        taskQueue: "trustflow",
        args: [given],
      });
      await expect(failed).rejects.toMatchObject({
        cause: { type: "InvalidInput", details: [{ fields: [{ path: "id" }] }] },
      });
    }
    expect(await system.effects("erased")).toEqual({ "evi-post.submit": 1 });
    expect(await stores.placesOf(marker)).not.toEqual([]);
    for (const id of [letter, certificate])
      expect(await run("erase", id, "--by", "Ana Ruiz")).toMatchObject({ code: 0 });
    expect(await stores.placesOf(marker)).toEqual([]);
  }, 120_000);

  test("a callback that comes after the erasure goes with the next clean-up", async () => {
    expect(await post(addressOf(system, letter), eventOf({}, { Details: marker }))).toBe(204);
    const parked =
      "select count(*) from trustflow.callbacks where workflow_id = $1 and state = 'parked'";
    await eventually("parked", async () => (await count(parked, letter)) === 1);
    expect(await stores.placesOf(marker)).toEqual(["callbacks"]);
    expect(await run("cleanup", "--json")).toMatchObject({ code: 0, json: { erasedBodies: 1 } });
    expect(await stores.placesOf(marker)).toEqual([]);
    expect(await count(parked, letter)).toBe(0);
  }, 60_000);
}
