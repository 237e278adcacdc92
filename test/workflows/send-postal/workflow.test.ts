// The affidavits of a letter, and its cancellation (P2 §4.1).
import { expect, test } from "vitest";
import { sendPostal } from "../../../src/workflows/send-postal/workflow.js";
import { decisions, submitted } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const settings = {
  ...{ deadlineSeconds: 100, pollIntervalSeconds: 10, askIntervalSeconds: 10 },
  affidavitWindowSeconds: 0,
};
/** The letter is submitted with these settings. */
const start = (more: object, fakes: Parameters<typeof WorkflowRun.start>[1] = {}) =>
  WorkflowRun.start(() => sendPostal({} as never), {
    submit: () => submitted({ ...settings, ...more }),
    ...fakes,
  });

test.each([
  [true, { answer: "requested", requestId: "q-1" }],
  [false, { answer: "notEligible" }],
])("affidavitsOnDemandEnabled %s at the submission: %j", async (affidavitsOnDemand, answered) => {
  const run = await start(
    {},
    {
      submit: () => ({ ...submitted(settings), affidavitsOnDemand }),
      requestAffidavit: () => answered,
    },
  );
  const { answer } = await run.update("requestAffidavit", { includeDocument: true });
  expect(answer).toEqual(answered);
  expect(run.types.includes("requestAffidavit")).toBe(affidavitsOnDemand);
});

test.each([
  [0, "late affidavits"],
  [1, "late affidavits; 1 listed at the close could not be fetched"],
])(
  "a closed letter with %d affidavits that cannot be fetched says so at once",
  async (missing, waitingFor) => {
    const snapshot = { stamp: "2026-01-01", state: "Closed", outcome: "Delivered", dates: {} };
    const run = await start(
      { affidavitWindowSeconds: 1_000 },
      {
        ask: () => ({ snapshot: { ...snapshot, fingerprint: "Closed" }, documents: [], missing }),
      },
    );
    await run.pass(20);
    expect(await run.status()).toMatchObject({ phase: "affidavits", waitingFor });
    expect(run.memos.at(-1)?.waitingFor).toBe(waitingFor);
  },
);

test.each([
  ["announces a requested affidavit is answered at once", "AffidavitPublished", "now"],
  ["reports the end is asked for until the end shows", "Closed", "end"],
])("the question after a callback that %s", async (_, kind, wait) => {
  const run = await start({});
  const affidavit = { id: "a-1", requestId: "q-1" };
  await run.signal("providerEvents", [{ id: "e-1", kind, at: "2026-01-01", affidavit }]);
  expect(run.openCall("ask").input.wait).toBe(wait);
});

test("an affidavit that was made again while the letter is tracked is fetched at once under its old id, and no other", async () => {
  const run = await start({});
  const event = { kind: "AffidavitPublished", at: "2026-01-01" };
  const announce = (id: string, more: object) =>
    run.signal("providerEvents", [{ ...event, id: `e-${id}`, affidavit: { id, ...more } }]);
  await announce("a-2", { requestId: "q-1" });
  const documents = ["A-1", "a-2"].map((uniqueId) => ({
    ...{ kind: "affidavit", uniqueId, at: "2026-01-01" },
    document: { id: uniqueId, sha256: uniqueId, size: 1, mediaType: "application/pdf" },
  }));
  const snapshot = { stamp: "2026-01-01", state: "Sent", dates: {}, fingerprint: "Sent" };
  await run.openCall("ask").answer({ snapshot, documents, missing: 0 });
  await announce("a-1", { regenerated: true });
  await run.pass(10);
  expect(run.openCall("ask").input).toMatchObject({ wait: "now", stored: ["a-2"], refetch: false });
});

test.each(["before", "during"])(
  "a cancellation that comes %s the last query decides the outcome",
  async (when) => {
    const { checkDecision } = decisions;
    const run = await start({ pollIntervalSeconds: 100 }, { checkDecision });
    const opened = (type: string) => run.open.filter((call) => call.type === type);
    const answerWith = async (state: string) => {
      const stamp = state === "Closed" ? "2026-01-02" : "2026-01-01";
      const snapshot = { stamp, state, outcome: "Cancelled", dates: {} };
      for (let query; (query = opened("ask")[0]);)
        await query.answer({
          snapshot: { ...snapshot, fingerprint: state },
          ...{ documents: [], missing: 0 },
        });
    };
    if (when === "during") await run.pass(100);
    const cancelling = run.update("cancel", { by: "Ada" });
    if (when === "before") await run.pass(100);
    await answerWith("Draft");
    expect(run.result).toBeUndefined();
    await run.openCall("cancel").answer({ answer: "cancelled" });
    expect((await cancelling).answer).toEqual({ answer: "cancelled" });
    await answerWith("Closed");
    expect(run.result).toMatchObject({ outcome: "cancelled" });
  },
);
