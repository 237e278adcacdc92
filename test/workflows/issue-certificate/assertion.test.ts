// What the update that gives a new eID assertion refuses.
import { expect, test } from "vitest";
import type { RefusedAssertion } from "../../../src/activities/disposable-certificate/index.js";
import type { CertificateSettings } from "../../../src/contracts/issue-certificate/contract.js";
import { AssertionDialogue } from "../../../src/workflows/issue-certificate/assertion.js";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { WorkflowRun } from "../workflow-run.js";

test.each([
  [{ assertion: "e30=", code: "123456" }, "code: is not known"],
  [{ assertion: "{}" }, "assertion: must be base64 of a JSON document (P1 §2.2)"],
])("%j is refused as an assertion", async (given, problem) => {
  const run = await WorkflowRun.start(() => {
    const flow = new Flow(plainView);
    const dialogue = new AssertionDialogue(flow);
    const refused = { refused: "expired" } as RefusedAssertion;
    const spans = { assertionTries: 1, assertionDeadlineSeconds: 60 } as CertificateSettings;
    return flow.lifecycle.run({
      main: async () => void (await dialogue.another(refused, spans)),
      result: () => "",
    });
  });
  const { refused } = await run.update("provideAssertion", given);
  expect(refused?.message).toBe(`Invalid input: ${problem}`);
});
