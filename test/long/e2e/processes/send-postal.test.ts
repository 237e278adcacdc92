// `sendPostal` on the real dev server, PostgreSQL, receiver, relay and sandbox: every outcome, every everyday accident.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { InputMismatchError, InvalidInputError, NotAcceptedError } from "../../../../src/client.js";
import type { PostalHandle, SendPostalInput } from "../../../../src/client.js";
import { fastSettings, letterInput, letterPdf } from "../../../processes/send-postal/inputs.js";
import { namedDocuments, ownedDocuments } from "../../../harness/documents/owned-documents.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";

let system: TestStack;
const started = new Map<string, Promise<PostalHandle>>();

const letter = { postServiceType: "Letter", postServiceProfile: "profile" } as const;
const tracked = { ...letter, enableDeliveryAttempts: true, deliveryAttemptsNumber: 2 } as const;

/** name → magic words, expected outcome, options. */
const outcomes: [string, string, string, SendPostalInput["options"]?][] = [
  ["delivered", "delivered", "delivered"],
  ["delivered-late", "delivered-late", "delivered"],
  ["undelivered", "undelivered", "undelivered"],
  ["rejected", "rejected", "rejected"],
  ["failed", "failed-early", "failed"],
  ["expired", "expired", "expired"],
  ["sent", "sent", "sent", letter],
  ["disposed", "disposed", "disposed", { ...tracked, disposalDaysAmmount: 3 }],
  ["disposed-unclosed", "disposed,unclosed", "disposed", { ...tracked, disposalDaysAmmount: 3 }],
  ["letter-lite", "undelivered", "undelivered", { postServiceType: "LetterLite" }],
];

const accidents: [string, string][] = [
  ["callbacks-lost", "delivered,callbacks-lost"],
  ["callbacks-doubled", "delivered,callbacks-doubled"],
  ["callbacks-reordered", "delivered,callbacks-reordered"],
  ["submit-cut-after-commit", "delivered,submit=cut-after-commit"],
  ["submit-500-after-commit", "delivered,submit=error-after-commit-500"],
  ["submit-cut-mid-body", "delivered,submit=cut-mid-body"],
  ["submit-unreadable", "delivered,submit=unreadable"],
  ["submit-503-twice", "delivered,submit=reject-503*2"],
  ["submit-429", "delivered,submit=reject-429"],
  ["submit-cut-before", "delivered,submit=cut"],
  ["query-down", "delivered,query=reject-503*3"],
  ["invisible", "delivered,submit=cut-after-commit,submit=invisible-1"],
  ["download-fails", "delivered,affidavitDownload=reject-500*2"],
];

function start(name: string, magic: string, options?: SendPostalInput["options"]): void {
  const input = letterInput(name, magic, {
    options: { certificationLevel: "Advanced", ...options },
  });
  const handle = system.client.sendPostal(name, input);
  handle.catch(() => undefined);
  started.set(name, handle);
}

function startedAs(name: string): Promise<PostalHandle> {
  const handle = started.get(name);
  if (!handle) throw new Error(`${name} was not started`);
  return handle;
}

beforeAll(async () => {
  system = await startTestStack();
  for (const [name, magic, , options] of outcomes) start(name, magic, options);
  for (const [name, magic] of accidents) start(name, magic);
}, 120_000);

afterAll(() => system.close(), 60_000);

describe("outcomes", () => {
  test.each(outcomes)(
    "%s ends as the provider says (P2 §3.1)",
    async (name, _magic, outcome) => {
      const handle = await startedAs(name);
      const result = await handle.result();
      expect(result).toMatchObject({ process: "sendPostal", id: name, outcome });
      expect(result.references["uniqueId"]).toMatch(/^[0-9a-f-]{36}$/);
      expect(await system.effects(name)).toEqual({ "evi-post.submit": 1 });
    },
    90_000,
  );

  test("affidavits are stored under their own hash, beside the letter (P2 §2.5, §6.3)", async () => {
    const handle = await startedAs("delivered");
    const { documents } = await handle.result();
    expect(await ownedDocuments(system, handle)).toEqual(namedDocuments(documents));
    const [submitted, ...affidavits] = documents;
    expect(submitted?.kind).toBe("submitted");
    expect(await system.client.documents.get(submitted!.document)).toEqual(letterPdf);
    expect(affidavits.length).toBeGreaterThan(0);
    for (const { document, uniqueId } of affidavits) {
      expect(uniqueId).toBeDefined();
      const bytes = await system.client.documents.get(document);
      expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
    }
  }, 60_000);

  test("the timeline names what callbacks reported and what queries confirmed", async () => {
    const { timeline, dates } = await (await startedAs("delivered")).result();
    const events = timeline.map(({ source, event }) => `${source} ${event}`);
    expect(events).toEqual(
      expect.arrayContaining(["callback Dispatched", "callback Delivered", "query Closed"]),
    );
    expect(dates.outcomeDate).toBeDefined();
  }, 60_000);
});

describe("accidents", () => {
  test.each(accidents)(
    "%s: delivered, and sent once (P2 §4.1, §6.4)",
    async (name) => {
      const handle = await startedAs(name);
      expect((await handle.result()).outcome).toBe("delivered");
      expect(await system.effects(name)).toEqual({ "evi-post.submit": 1 });
    },
    90_000,
  );
});

describe("cancel (P2 §4.1)", () => {
  test("in time it is cancelled", async () => {
    const handle = await system.client.sendPostal(
      "cancel-in-time",
      letterInput("cancel-in-time", "cancellable"),
    );
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    expect(await handle.cancel()).toEqual({ answer: "cancelled" });
    expect((await handle.result()).outcome).toBe("cancelled");
    expect(await system.effects("cancel-in-time")).toEqual({
      "evi-post.submit": 1,
      "evi-post.cancel": 1,
    });
  }, 60_000);

  test("the same update id cancels once", async () => {
    const handle = await system.client.sendPostal(
      "cancel-once",
      letterInput("cancel-once", "cancellable"),
    );
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    const answers = await Promise.all([handle.cancel("one"), handle.cancel("one")]);
    expect(answers).toEqual([{ answer: "cancelled" }, { answer: "cancelled" }]);
    expect(await system.effects("cancel-once")).toMatchObject({ "evi-post.cancel": 1 });
  }, 60_000);

  test("without Closed it ends as cancelled after the grace (docs/reading-the-specification.md §2)", async () => {
    const handle = await system.client.sendPostal(
      "cancel-unclosed",
      letterInput("cancel-unclosed", "cancellable,unclosed"),
    );
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    expect(await handle.cancel()).toEqual({ answer: "cancelled" });
    expect((await handle.result()).outcome).toBe("cancelled");
  }, 60_000);

  test("once dispatched it is too late", async () => {
    const handle = await system.client.sendPostal(
      "cancel-late",
      letterInput("cancel-late", "open", {
        settings: { ...fastSettings, deadlineSeconds: 12 },
      }),
    );
    await statusWhere(handle, ({ reportedState }) => reportedState === "Sent");
    expect(await handle.cancel()).toEqual({ answer: "tooLate" });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: "openAtDeadline", providerOutcome: "Sent" });
  }, 60_000);

  test("Temporal's own cancellation means the same, and the letter stays tracked", async () => {
    const handle = await system.client.sendPostal(
      "cancel-web-ui",
      letterInput("cancel-web-ui", "cancellable"),
    );
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    await system.client.temporal.workflow.getHandle(handle.workflowId).cancel();
    expect((await handle.result()).outcome).toBe("cancelled");
  }, 60_000);

  test("before the submit is sent it ends the process without a call", async () => {
    await system.sandbox.addFault({
      operation: "evi-post.submit",
      kind: "reject",
      status: 401,
      lookupKey: "cancel-early",
      times: "always",
    });
    const handle = await system.client.sendPostal(
      "cancel-early",
      letterInput("cancel-early", "delivered"),
    );
    await statusWhere(handle, ({ attention }) => attention?.kind === "accessDenied");
    expect(await handle.cancel()).toEqual({ answer: "cancelled" });
    expect((await handle.result()).outcome).toBe("cancelledBeforeSubmit");
    expect(await system.effects("cancel-early")).toEqual({});
  }, 60_000);
});

describe("affidavit on demand (P2 §4.1)", () => {
  const onDemand = { certificationLevel: "Advanced", affidavitsOnDemandEnabled: true };

  test("a request is answered with its id and tied to the affidavit that follows", async () => {
    const handle = await system.client.sendPostal(
      "on-demand",
      letterInput("on-demand", "delivered", { options: onDemand }),
    );
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    const answer = await handle.requestAffidavit({ includeDocument: true });
    expect(answer).toEqual({ answer: "requested", requestId: expect.any(String) });
    const requestId = answer.answer === "requested" ? answer.requestId : "";
    const { documents } = await handle.result();
    expect(documents.filter((document) => document.requestId === requestId)).toHaveLength(1);
  }, 60_000);

  test("without the option it is not eligible, and the provider is not called", async () => {
    const handle = await system.client.sendPostal(
      "not-on-demand",
      letterInput("not-on-demand", "delivered"),
    );
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    expect(await handle.requestAffidavit()).toEqual({ answer: "notEligible" });
    expect(await system.effects("not-on-demand")).toEqual({ "evi-post.submit": 1 });
  }, 60_000);

  test("a lost answer is unknown, and not asked for twice", async () => {
    const input = letterInput("on-demand-lost", "delivered,affidavitRequest=cut-after-commit", {
      options: onDemand,
    });
    const handle = await system.client.sendPostal("on-demand-lost", input);
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    expect(await handle.requestAffidavit({}, "lost")).toEqual({ answer: "unknown" });
    expect(await handle.requestAffidavit({}, "lost")).toEqual({ answer: "unknown" });
    expect(await system.effects("on-demand-lost")).toMatchObject({
      "evi-post.affidavitRequest": 1,
    });
  }, 60_000);
});

describe("starting", () => {
  test("bad input is refused with the field named, and leaves no history (P2 §2.2)", async () => {
    const input = letterInput("bad", "delivered");
    const { region: _, ...address } = input.recipientAddress;
    const refused = system.client.sendPostal("bad", { ...input, recipientAddress: address });
    await expect(refused).rejects.toThrow(InvalidInputError);
    await expect(refused).rejects.toMatchObject({
      fields: [{ path: "recipientAddress.region", problem: expect.any(String) }],
    });
    const described = system.client.temporal.workflow.getHandle("sendPostal/bad").describe();
    await expect(described).rejects.toThrow(/not found/i);
  });

  test("a second start with the same input joins; with another it is refused (docs/design.md §2)", async () => {
    const input = letterInput("joined", "delivered");
    const [first, second] = await Promise.all([
      system.client.sendPostal("joined", input),
      system.client.sendPostal("joined", input),
    ]);
    const other = { ...input, recipientEmail: "someone@example.org" };
    await expect(system.client.sendPostal("joined", other)).rejects.toThrow(InputMismatchError);
    const results = await Promise.all([first.result(), second.result()]);
    expect(results[1]).toEqual(results[0]);
    expect(await (await system.client.sendPostal("joined", input)).result()).toEqual(results[0]);
    await expect(system.client.sendPostal("joined", other)).rejects.toThrow(InputMismatchError);
    expect(await system.effects("joined")).toEqual({ "evi-post.submit": 1 });
  }, 60_000);

  test("two messages under one id that differ beside content are two inputs: the second is refused, not dropped", async () => {
    const message = (name: string) => ({
      providerFields: { reference: "two", attachment: { base64: "aGVsbG8=", name } },
    });
    const sent = await system.client.sendMessage("two", message("a.txt"));
    const second = system.client.sendMessage("two", message("b.txt"));
    await expect(second).rejects.toThrow(InputMismatchError);
    await expect(system.client.sendMessage("two", message("a.txt"))).resolves.toBeDefined();
    await sent.result();
  }, 60_000);

  test("what only the provider can judge fails as NotAccepted with its field (P2 §7.1)", async () => {
    const input = letterInput("refused", "delivered", {
      options: { certificationLevel: "Novel" },
    });
    const handle = await system.client.sendPostal("refused", input);
    const failed = handle.result();
    await expect(failed).rejects.toThrow(NotAcceptedError);
    await expect(failed).rejects.toMatchObject({
      provider: "evi-post",
      fields: [expect.objectContaining({ path: "options.certificationLevel" })],
    });
    expect(await system.effects("refused")).toEqual({});
  }, 60_000);

  test("a refused process may be started again with another input", async () => {
    const refused = letterInput("mended", "delivered", {
      options: { certificationLevel: "Novel" },
    });
    await expect((await system.client.sendPostal("mended", refused)).result()).rejects.toThrow(
      NotAcceptedError,
    );
    const mended = await system.client.sendPostal("mended", letterInput("mended", "delivered"));
    expect((await mended.result()).outcome).toBe("delivered");
    expect(await system.effects("mended")).toEqual({ "evi-post.submit": 1 });
  }, 60_000);

  test("an unknown account fails as invalid input that names it", async () => {
    const handle = await system.client.sendPostal(
      "no-account",
      letterInput("no-account", "delivered", { account: "nobody" }),
    );
    await expect(handle.result()).rejects.toMatchObject({ fields: [{ path: "account" }] });
  }, 60_000);

  test("a terminated process that is started again takes up what exists (docs/design.md §2)", async () => {
    const input = letterInput("terminated", "cancellable");
    const first = await system.client.sendPostal("terminated", input);
    const { references } = await statusWhere(first, ({ phase }) => phase === "tracking");
    await system.client.temporal.workflow.getHandle(first.workflowId).terminate();
    const second = await system.client.sendPostal("terminated", input);
    expect((await statusWhere(second, ({ phase }) => phase === "tracking")).references).toEqual(
      references,
    );
    expect(await second.cancel()).toEqual({ answer: "cancelled" });
    expect((await second.result()).outcome).toBe("cancelled");
    expect(await system.effects("terminated")).toMatchObject({ "evi-post.submit": 1 });
  }, 60_000);
});

test("the ledger has neither duplicates nor violations at the end", async () => {
  const { duplicates, violations } = await system.sandbox.ledger();
  expect({ duplicates, violations }).toEqual({ duplicates: [], violations: [] });
});
