// A lost answer at accounts whose look-up does not find our items (docs/reading-the-specification.md §1): one effect in the ledger.
// What waits for the proof of a look-up goes on by itself in test/e2e/promises.test.ts.
import { afterAll, beforeAll, expect, test } from "vitest";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { OneShotHandle, PostalHandle, SendPostalInput } from "../../../src/client.js";
import type { Attention } from "../../../src/contracts/shared/status.js";
import { sandboxAccount } from "../../../packages/dev/src/stack/sandbox-accounts.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import type { Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import { doctorOfAll } from "../../cli/doctor/doctor.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { signerInput } from "../../processes/sign-one-shot/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

/** Each with a provider of its own. */
const names = ["whole", "whole-own-key", "hidden"] as const;
type Name = (typeof names)[number];
let sandboxes: Record<Name, Sandbox>;
let system: TestStack;

beforeAll(async () => {
  const started = await Promise.all(
    names.map((name) =>
      startSandbox({
        speed: 60_000,
        lookupKeyMatching: name.startsWith("whole") ? "whole" : "parts",
      }),
    ),
  );
  sandboxes = Object.fromEntries(names.map((name, at) => [name, started[at]])) as never;
  const accounts = names.map((name) => {
    const { url, tlsUrl, pki } = sandboxes[name];
    return sandboxAccount(name, { url, tlsUrl, pkiDirectory: dirname(pki.caFile) });
  });
  system = await startTestStack({
    env: {
      ...Object.assign({}, ...accounts),
      TRUSTFLOW_ACCOUNTS__WHOLE_OWN_KEY__EVI_POST__OWN_KEY_IN_LOOKUP_KEY: "true",
      TRUSTFLOW_ACCOUNTS__HIDDEN__ONE_SHOT_SIGNATURE__PATHS__RETRIEVE: "none",
      TRUSTFLOW_ATTENTION__INVISIBLE_SECONDS: "4",
    },
  });
}, 120_000);
afterAll(async () => {
  await system?.close();
  for (const sandbox of Object.values(sandboxes ?? {})) await sandbox.close();
}, 60_000);

const send = (account: Name, id: string, more: Partial<SendPostalInput> = {}) =>
  system.client.sendPostal(id, letterInput(id, "delivered", { account, ...more }));

async function askedOf(handle: PostalHandle | OneShotHandle): Promise<Attention> {
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  return attention as Attention;
}

/** With `ownKeyInLookupKey` our own key stands behind the caller's, so that the ledger knows the intent by both. */
function lettersOf(account: Name, intent: string): number {
  const own = Object.entries(sandboxes[account].ledger().byIntent).filter(
    ([known]) => known === intent || known.startsWith(`${intent}::`),
  );
  return own.reduce((sum, [, effects]) => sum + (effects["evi-post.submit"] ?? 0), 0);
}

/** What doctor says of a look-up of an account. */
async function doctorOn(check: string) {
  const { checks } = await doctorOfAll(system.stack.env);
  return checks.find((one) => one.check === check);
}

test.each(["whole", "whole-own-key"] as const)(
  "%s: a provider that does not find our key has one letter, whatever became of the answer",
  async (account) => {
    const { faults } = sandboxes[account];
    const lost = `${account}-lost`;
    faults.add({ operation: "evi-post.submit", kind: "cut-after-commit" });
    const handle = await send(account, lost);
    expect(await askedOf(handle)).toMatchObject({ kind: "unknownOutcome" });
    // Letters that are answered do not make it known, and in the end doctor says that it does not find them.
    const check = `look-up ${account} evi-post`;
    let said = await doctorOn(check);
    for (let n = 0; said?.state === "ok"; n += 1) {
      expect(n).toBeLessThan(40);
      await send(account, `${account}-${n}`);
      await delay(1_500);
      said = await doctorOn(check);
    }
    expect(said).toMatchObject({
      state: "warn",
      finding: "lookUpFindsNothing",
      detail: expect.stringContaining("submit"),
    });
    expect(lettersOf(account, lost)).toBe(1);
    expect((await handle.status()).attention).toMatchObject({ kind: "unknownOutcome" });

    // Who decides to send again sends with the same key: the provider repeats no letter that it has answered.
    faults.add({ operation: "evi-post.submit", kind: "cut-after-commit", cached: true });
    const second = await send(account, `${lost}-2`);
    const { id } = await askedOf(second);
    expect((await askedOf(second)).reason).toContain("does not find our own items");
    await decided(second, id);
    expect((await second.result()).outcome).toBe("delivered");
    expect(lettersOf(account, `${lost}-2`)).toBe(1);
  },
  120_000,
);

async function decided(handle: PostalHandle | OneShotHandle, attention: string): Promise<void> {
  await eventually("the decision is taken", async () => {
    const { answer } = await handle.resolve({
      attention,
      decision: "retry",
      by: "Ada",
      ...({ note: "not in the portal", confirmRetry: true } as object),
    });
    return answer === "resolved";
  });
}

test("a letter whose own key stands alone is found by a provider that compares whole keys", async () => {
  const more = { lookupKey: undefined, recipientName: "sandbox:delivered" };
  await (await send("whole", "alone-1", more)).result();
  const { detail } = (await doctorOn("look-up whole evi-post")) ?? {};
  expect(detail).toMatch(/submit \(alone\) finds our own items/);
}, 60_000);

test("an upload of an account without a look-up is once: a person's retry sends it again", async () => {
  const operation = "one-shot-signature.uploadDocument";
  sandboxes.hidden.faults.add({ operation, kind: "cut", lookupKey: "hidden-1" });
  const handle = await system.client.signOneShot(
    "hidden-1",
    signerInput("hidden-1", "", { account: "hidden" }),
  );
  const { id } = await askedOf(handle);
  expect(sandboxes.hidden.messages("hidden-1")).toEqual([]);
  await decided(handle, id);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  expect(sandboxes.hidden.ledger("hidden-1").byIntent["hidden-1"]).toMatchObject({
    [operation]: 2,
  });
}, 60_000);
