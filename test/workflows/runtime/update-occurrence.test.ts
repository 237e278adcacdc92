// The effect of an update is one of its own, whatever id its caller has chosen.
import { defineUpdate } from "@temporalio/workflow";
import { expect, test } from "vitest";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { occurrenceOfUpdate } from "../../../src/workflows/runtime/update-occurrence.js";
import { WorkflowRun } from "../workflow-run.js";

const tell = defineUpdate<string>("tell");

/** What the effect of an update with this id is called. */
async function occurrenceOf(id: string): Promise<unknown> {
  const run = await WorkflowRun.start(() => {
    const { lifecycle } = new Flow(plainView);
    lifecycle.onUpdate(tell, "Its occurrence", occurrenceOfUpdate);
    return lifecycle.run({ main: () => new Promise(() => undefined), result: () => null });
  });
  return (await run.update("tell", undefined, id)).answer;
}

test.each(["u-1", "0f9e8d7c-1111-4222-8333-444455556666", "a+1b", "second code"])(
  "%j is the occurrence of its update",
  async (id) => {
    expect(await occurrenceOf(id)).toBe(id);
  },
);

test.each(["0", "1", "17", "u-1+1", "workflow-cancellation", "after-submit", "not-accepted"])(
  "%j, which the process itself may name an occurrence, gets another name",
  async (id) => {
    expect(await occurrenceOf(id)).toBe(`${id}.update`);
  },
);

test("no id gets the name that another id has", async () => {
  expect(await occurrenceOf("0.update")).toBe("0.update.update");
});
