// To what the service of a presentation is linked (P1 §2.11; docs/reading-the-specification.md §7).
import { expect, test } from "vitest";
import { presentCredential } from "../../../src/workflows/present-credential/workflow.js";
import { decisions, place } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const created = { providerFields: {} };

test.each([
  ["the process's own ones", undefined, ["o1"], ["v1"]],
  [
    "others beside them, each once and behind its own",
    { operatorIds: ["o1", "o2"], verificationTemplateIds: ["v2"] },
    ["o1", "o2"],
    ["v1", "v2"],
  ],
])("%s", async (_, alsoLinked, operatorIds, verificationTemplateIds) => {
  const input = {
    ...{ operator: { id: "o1" }, template: created, verificationTemplate: created },
    ...{ service: created, alsoLinked },
  };
  const run = await WorkflowRun.start(
    () => presentCredential(input),
    {
      preparePresentation: () => place,
      createTemplate: () => ({ templateId: "t1" }),
      createVerificationTemplate: () => ({ verificationTemplateId: "v1" }),
      createPresentationService: () => ({ verificationServiceId: "s1" }),
    },
    "presentCredential",
  );
  const linked = { operatorIds, verificationTemplateIds };
  expect(run.calls.at(-1)).toMatchObject({ type: "createPresentationService", input: linked });
  expect(run.result).toMatchObject({
    outcome: "setUp",
    references: { operatorId: "o1", templateId: "t1", verificationServiceId: "s1" },
  });
});

test("an id that the caller gave is no effect of a process that is given up", async () => {
  const run = await WorkflowRun.start(
    () => presentCredential({ service: { id: "s1" }, init: { providerFields: {} } }),
    {
      preparePresentation: () => place,
      ...decisions,
    },
    "presentCredential",
  );
  await run.openCall("initPresentation").fail({ kind: "accessDenied" });
  await run.resolve("abandon");
  expect(run.failure).toMatchObject({ type: "Abandoned", details: [{ effect: "none" }] });
});
