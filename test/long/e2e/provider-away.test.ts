// A provider that cannot be reached: each step asks for a person after `attention.unavailableSeconds`, not earlier, and goes on
// by itself once the provider is back (docs/design.md §5, §6).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxAccount } from "../../../packages/dev/src/stack/sandbox-accounts.js";
import { sandboxPki } from "../../../packages/dev/src/stack/stack-env.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { processesUnderTest } from "../../processes/index.js";
import { callerOf } from "../../processes/process-under-test.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const UNAVAILABLE_SECONDS = 5;
/** Until the status shows it, on a busy machine. */
const GRACE_SECONDS = 10;
/** No server listens there. */
const nowhere = "127.0.0.1:9";

let system: TestStack;

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), "trustflow-away-"));
  const pkiDirectory = sandboxPki(directory);
  system = await startTestStack({
    directory,
    env: {
      TRUSTFLOW_ATTENTION__UNAVAILABLE_SECONDS: String(UNAVAILABLE_SECONDS),
      ...sandboxAccount("away", {
        url: `http://${nowhere}`,
        tlsUrl: `https://${nowhere}`,
        pkiDirectory,
      }),
    },
  });
  // Only an account whose look-up has found one of ours looks for a submit without an answer (docs/reading-the-specification.md §1).
  const found = await system.client.sendPostal("found", letterInput("found", "delivered"));
  await found.result();
}, 120_000);
afterAll(() => system?.close(), 60_000);

test.each(processesUnderTest.map((one) => [one.process, one] as const))(
  "the first step of %s that cannot reach its provider",
  async (_, underTest) => {
    const began = Date.now();
    const handle = await underTest.start(system.client, "away", { input: { account: "away" } });
    const limitMs = (UNAVAILABLE_SECONDS + GRACE_SECONDS) * 1_000;
    const [call = {}] = underTest.calls;
    const caller = system.client.handle(callerOf(call, underTest.process, handle.id));
    await eventually("the process that makes the call", () => caller.isOpen().catch(() => false));
    const { attention } = await statusWhere(caller, (status) => !!status.attention, limitMs);
    expect(attention).toMatchObject({ kind: "unavailable" });
    expect(Date.parse(attention!.since) - began).toBeGreaterThanOrEqual(
      UNAVAILABLE_SECONDS * 1_000,
    );
    await system.client.temporal.workflow.getHandle(handle.workflowId).terminate();
  },
  60_000,
);

// A submit that got no answer waits for its look-ups too (docs/reading-the-specification.md §1): the account is asked
// meanwhile, and answers.
test.each(["submit", "query"])(
  "a %s that is answered 503, and goes on when it is answered again",
  async (operation) => {
    const { id } = await system.sandbox.addFault({
      operation: `evi-post.${operation}`,
      kind: "reject",
      status: 503,
      times: "always",
    });
    const handle = await system.client.sendPostal(
      `${operation}-503`,
      letterInput(`${operation}-503`, "delivered"),
    );
    const { attention } = await statusWhere(handle, (status) => !!status.attention, 40_000);
    expect(attention).toMatchObject({ kind: "unavailable" });
    await system.sandbox.removeFault(id);
    expect((await handle.result()).outcome).toBe("delivered");
    expect(await system.effects(`${operation}-503`)).toEqual({ "evi-post.submit": 1 });
  },
  60_000,
);
