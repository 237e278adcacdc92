// Workflows of the engine's own test: each kind of command and of event that Trustflow's workflows use.
import * as workflow from "@temporalio/workflow";

const calls = workflow.proxyActivities<{
  work(input: string): Promise<string>;
  hang(): Promise<void>;
}>({
  startToCloseTimeout: "10 seconds",
  heartbeatTimeout: "1 second",
  retry: { initialInterval: "50 ms", maximumInterval: "100 ms" },
});
const addSignal = workflow.defineSignal<[string]>("add");
const changeUpdate = workflow.defineUpdate<string, [string]>("change");
const seenQuery = workflow.defineQuery<string[]>("seen");

export async function parent(id: string): Promise<string[]> {
  const seen: string[] = [];
  let isOver = false;
  workflow.setHandler(addSignal, (text) => {
    seen.push(text);
    if (text === "end") isOver = true;
  });
  workflow.setHandler(
    changeUpdate,
    async (text) => {
      seen.push(await calls.work(text));
      return `changed ${text}`;
    },
    {
      validator: (text) => {
        if (text === "bad") throw new Error("refused");
      },
    },
  );
  workflow.setHandler(seenQuery, () => seen);
  workflow.upsertMemo({ step: "begun" });
  seen.push(await calls.work("first"));
  seen.push(await calls.work("fails twice"));
  const scope = new workflow.CancellationScope();
  const hanging = scope
    .run(() => calls.hang())
    .catch((error: unknown) => seen.push(workflow.isCancellation(error) ? "cancelled" : "failed"));
  await workflow.sleep(200);
  scope.cancel();
  await hanging;
  const child = await workflow.startChild("child", {
    workflowId: `${id}.child`,
    args: [id],
    parentClosePolicy: "ABANDON",
    cancellationType: workflow.ChildWorkflowCancellationType.ABANDON,
  });
  seen.push(await child.result());
  await workflow
    .startChild("child", { workflowId: `${id}.failing`, args: ["fails"] })
    .then((one) => one.result())
    .catch(() => seen.push("child failed"));
  await workflow.condition(() => isOver, "1 day");
  await workflow.condition(workflow.allHandlersFinished);
  return seen;
}

export async function child(text: string): Promise<string> {
  await workflow.sleep(30);
  if (text === "fails") throw workflow.ApplicationFailure.nonRetryable("as wished");
  return `child of ${text}`;
}
