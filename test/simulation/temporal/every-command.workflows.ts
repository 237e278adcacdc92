// Workflows of the engine's own test: each kind of command and of event that Trustflow's workflows use.
import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";
import * as workflow from "@temporalio/workflow";

interface Activities {
  work(input: string): Promise<string>;
  hang(): Promise<void>;
  remember(): Promise<string>;
}

const calls = workflow.proxyActivities<Activities>({
  startToCloseTimeout: "10 seconds",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "50 ms", maximumInterval: "100 ms" },
});
const once = workflow.proxyActivities<Activities>({
  startToCloseTimeout: "300 ms",
  retry: { maximumAttempts: 1 },
});
const brief = workflow.proxyActivities<Activities>({ scheduleToCloseTimeout: "1 minute" });
const addSignal = workflow.defineSignal<[string]>("add");
const onSignal = workflow.defineSignal("on");
const changeUpdate = workflow.defineUpdate<string, [string]>("change");
const seenQuery = workflow.defineQuery<string[]>("seen");

export async function parent(id: string): Promise<string[]> {
  const seen: string[] = [];
  let isOver = false;
  let isTold = false;
  workflow.setHandler(addSignal, (text) => {
    seen.push(text);
    if (text === "end") isOver = true;
  });
  workflow.setHandler(onSignal, () => void (isTold = true));
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
  // The activity ends later than the wait for it.
  await workflow.condition(() => isTold);
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

const stepAttribute = defineSearchAttributeKey("Step", SearchAttributeType.KEYWORD);

/** What fails, is refused or is cancelled; then waits until it is cancelled or terminated itself. */
export async function troubled(id: string): Promise<void> {
  const seen: string[] = [];
  workflow.setHandler(seenQuery, () => seen);
  const failed = (what: string) => (error: Error) => void seen.push(`${what}: ${error.name}`);
  workflow.upsertSearchAttributes([{ key: stepAttribute, value: "begun" }]);
  await calls.work("fails").catch(failed("refused"));
  await once.hang().catch(failed("late"));
  await brief
    .work("asks for an hour")
    .catch(({ retryState }: workflow.ActivityFailure) => seen.push(`no attempt: ${retryState}`));
  seen.push(await calls.remember());
  await workflow.startChild("child", { workflowId: id, args: [id] }).catch(failed("known"));
  const scope = new workflow.CancellationScope();
  const sleeping = scope.run(() => workflow.sleep("1 day")).catch(failed("timer"));
  await calls.work("beside the timer");
  scope.cancel();
  await sleeping;
  workflow.upsertSearchAttributes([{ key: stepAttribute, value: null }]);
  try {
    await workflow.condition(() => false);
  } finally {
    await workflow.CancellationScope.nonCancellable(() => calls.work("at the end"));
  }
}
