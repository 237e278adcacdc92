// The identity video of a signature request where answers are lost: its writes ask a person, its decision asks the provider
// before another one is sent (P1 §1.4; docs/reading-the-specification.md §0).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { AbandonedError } from "../../../../src/client.js";
import type { OneShotHandle, SignOneShotInput } from "../../../../src/client.js";
import type { Decision } from "../../../../src/contracts/shared/messages.js";
import { codeFor } from "../../../processes/issue-certificate/inputs.js";
import { eventually } from "../../../harness/outages/wait.js";
import { videoDecision, videoInput } from "../../../processes/sign-one-shot/inputs.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: 300 });
}, 120_000);
afterAll(() => system?.close(), 60_000);

const provider = "one-shot-signature";
/** What the ledger has of an operation. */
const count = async (intent: string, operation: string) =>
  (await system.effects(intent))[`${provider}.${operation}`] ?? 0;
const duplicates = async () => (await system.sandbox.ledger()).duplicates;

/** No poll of the video unless a callback or a test triggers it. */
const seldom = { pollIntervalSeconds: 3_600, askIntervalSeconds: 3_600 };

/** The video is uploaded, and waits for a decision. */
async function filmed(
  intent: string,
  words: string,
  settings: SignOneShotInput["settings"] = {},
): Promise<OneShotHandle> {
  const input = videoInput(intent, words);
  const handle = await system.client.signOneShot(intent, {
    ...input,
    settings: { ...input.settings, ...settings },
  });
  await statusWhere(handle, ({ waitingFor }) => waitingFor === videoDecision);
  return handle;
}

const decides = async (handle: OneShotHandle, decision: "approve" | "cancel") =>
  (await handle.decideVideo(decision)).answer;

async function ends(handle: OneShotHandle, state: "approved" | "cancelled"): Promise<void> {
  if (state === "approved") await handle.submitOtp(await codeFor(system.sandbox, handle.id));
  expect((await handle.result()).outcome).toBe(state === "approved" ? "signed" : "cancelled");
  expect(await duplicates()).toEqual([]);
}

/** How often the account's videos were asked about. */
async function questions(): Promise<number> {
  const { total } = await system.sandbox.requests();
  const byStatus = Object.values(total[`${provider}.getIdentityVideo`] ?? {});
  return byStatus.reduce((sum, one) => sum + one, 0);
}

/** A decision at the provider. */
async function decidedThere(intent: string, decision: "approve" | "cancel"): Promise<void> {
  const [item] = (await system.sandbox.items({ intent })).items;
  const url = `${system.stack.sandboxUrl}/oneshot/api/v1/identity-video/${item?.id}/${decision}`;
  const headers = { authorization: "Token sandbox-token" };
  expect((await fetch(url, { method: "POST", headers })).status).toBe(200);
}

const writes = [
  ["createVideo", "createIdentityVideo"],
  ["uploadEvidences", "uploadEvidences"],
  ["uploadVideo", "uploadVideo"],
] as const;
const cases = writes.flatMap(([step, operation]) =>
  (["retry", "happened", "abandon"] as const).map(
    (decision) => [step, operation, decision] as const,
  ),
);

test.each(cases)(
  "%s without an answer (%s) asks a person: %s",
  async (step, operation, decision: Decision) => {
    const intent = `${step}-${decision}`;
    const didHappen = decision !== "retry";
    const words = `${operation}=${didHappen ? "cut-after-commit" : "cut"}`;
    const handle = await system.client.signOneShot(intent, videoInput(intent, words));
    const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
    expect(attention).toMatchObject({ kind: "unknownOutcome", step });
    expect(attention).not.toHaveProperty("happenedNeeds");
    expect(await count(intent, operation)).toBe(didHappen ? 1 : 0);
    const confirmed = decision === "retry" && { confirmRetry: true, note: "the portal shows none" };
    const resolution = { attention: attention!.id, decision, by: "Ada", ...confirmed };
    // While the lease runs, the first one may still be under way.
    const resolves = async () => (await handle.resolve(resolution)).answer === "resolved";
    await eventually("the lease is over", resolves);
    if (decision === "abandon") {
      await expect(handle.result()).rejects.toThrow(AbandonedError);
      expect(await count(intent, "approveIdentityVideo")).toBe(0);
    } else {
      await statusWhere(handle, ({ waitingFor }) => waitingFor === videoDecision);
      expect(await decides(handle, "approve")).toBe("approved");
      await ends(handle, "approved");
    }
    expect(await count(intent, operation)).toBe(1);
    expect(await duplicates()).toEqual([]);
  },
);

const decisions = [
  ["approve", "approveIdentityVideo", "approved"],
  ["cancel", "cancelIdentityVideo", "cancelled"],
] as const;

test.each(decisions)(
  "%s that never arrived (%s) is sent again once nothing can come of the first one, and then it is %s",
  async (decision, operation, state) => {
    const intent = `${decision}-lost`;
    const handle = await filmed(intent, `${operation}=cut`, seldom);
    expect(await decides(handle, decision)).toBe("unknown");
    // The provider may still be at it, as long as the lease runs.
    expect(await decides(handle, decision)).toBe("unknown");
    expect(await count(intent, operation)).toBe(0);
    await eventually("the lease is over", async () => (await decides(handle, decision)) === state);
    await ends(handle, state);
    expect(await count(intent, operation)).toBe(1);
  },
);

test.each(decisions)(
  "%s that arrived without an answer (%s) is not sent again without a look-up; the poll continues",
  async (decision, operation, state) => {
    const intent = `${decision}-unasked`;
    const away = await system.sandbox.addFault({
      ...{ operation: `${provider}.getIdentityVideo`, kind: "reject" },
      ...{ times: "always", lookupKey: intent },
    });
    const handle = await filmed(intent, `${operation}=cut-after-commit`);
    expect(await decides(handle, decision)).toBe("unknown");
    const sent = async () => (await system.sandbox.requests()).total[`${provider}.${operation}`];
    const before = await sent();
    expect(await decides(handle, "approve")).toBe("unknown");
    expect(await decides(handle, "cancel")).toBe("unknown");
    expect(await sent()).toEqual(before);
    await system.sandbox.removeFault(away.id);
    await ends(handle, state);
    expect(await count(intent, operation)).toBe(1);
  },
);

test.each([
  ["approve", "approved"],
  ["cancel", "notAwaited"],
] as const)(
  "after a decision without an answer, %s on a video that was approved meanwhile is answered %s by what it shows",
  async (decision, answer) => {
    const intent = `shown-${decision}`;
    const handle = await filmed(intent, "approveIdentityVideo=cut", seldom);
    const asked = await questions();
    expect(await decides(handle, "approve")).toBe("unknown");
    await eventually("it has been asked about", async () => (await questions()) > asked);
    await decidedThere(intent, "approve");
    expect(await decides(handle, decision)).toBe(answer);
    await ends(handle, "approved");
    const effects = {
      approve: await count(intent, "approveIdentityVideo"),
      cancel: await count(intent, "cancelIdentityVideo"),
    };
    expect(effects).toEqual({ approve: 1, cancel: 0 });
  },
);

test("a process that was started again finds the earlier decision without an answer", async () => {
  const intent = "started-again";
  const away = await system.sandbox.addFault({
    ...{ operation: `${provider}.getIdentityVideo`, kind: "reject", status: 400 },
    ...{ times: "always", lookupKey: intent },
  });
  const first = await filmed(intent, "approveIdentityVideo=cut-after-commit", seldom);
  expect(await decides(first, "approve")).toBe("unknown");
  await system.client.temporal.workflow.getHandle(first.workflowId).terminate();
  await system.sandbox.removeFault(away.id);
  const handle = await filmed(intent, "approveIdentityVideo=cut-after-commit", seldom);
  expect(await decides(handle, "approve")).toBe("approved");
  await ends(handle, "approved");
  expect(await count(intent, "approveIdentityVideo")).toBe(1);
});

/** What the sandbox has of the video's request. */
async function fieldsOf(intent: string): Promise<unknown> {
  const [item] = (await system.sandbox.items({ intent })).items;
  const { identityVideo } = (await system.sandbox.item(item!.id)) as {
    identityVideo?: { fields: unknown };
  };
  return identityVideo?.fields;
}

test("the request of a video is changed while its decision is awaited, and not after it (P1 §1.4)", async () => {
  const handle = await filmed("updated", "");
  expect(await handle.updateVideo({ room: 2 }, "one")).toEqual({ answer: "updated" });
  expect(await handle.updateVideo({ room: 2 }, "one")).toEqual({ answer: "updated" });
  expect(await fieldsOf("updated")).toMatchObject({ room: 2 });
  expect(await count("updated", "updateIdentityVideo")).toBe(1);
  for (const wrong of [undefined, null, [], "room"])
    await expect(handle.updateVideo(wrong as never)).rejects.toThrow(
      "providerFields must be an object",
    );
  expect(await decides(handle, "approve")).toBe("approved");
  expect(await handle.updateVideo({ room: 3 })).toEqual({ answer: "notAwaited" });
  await ends(handle, "approved");
  expect(await fieldsOf("updated")).toMatchObject({ room: 2 });
  const { timeline } = await handle.result();
  const told = timeline.filter(({ event }) => event.startsWith("Update of the identity video"));
  expect(told.map(({ event }) => event)).toEqual(["Update of the identity video: updated"]);
});

test("an update without an answer is told as unknown, and its id never sends it again", async () => {
  const handle = await filmed("update-lost", "updateIdentityVideo=cut-after-commit", seldom);
  const update = async () => (await handle.updateVideo({ room: 2 }, "one")).answer;
  expect(await update()).toBe("unknown");
  expect(await update()).toBe("unknown");
  expect(await count("update-lost", "updateIdentityVideo")).toBe(1);
  expect(await decides(handle, "cancel")).toBe("cancelled");
  await ends(handle, "cancelled");
});

test("an update that the provider refuses changes nothing, and the process waits on", async () => {
  const handle = await filmed("update-refused", "updateIdentityVideo=reject-400");
  expect(await handle.updateVideo({ room: 2 })).toEqual({ answer: "refused" });
  expect(await count("update-refused", "updateIdentityVideo")).toBe(0);
  expect(await decides(handle, "approve")).toBe("approved");
  await ends(handle, "approved");
});
