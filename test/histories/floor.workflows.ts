// The floor of docs/design.md §12, bare: submit, wait for callbacks, confirm.
import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";

const { submit, ask } = proxyActivities<Record<"submit" | "ask", () => Promise<unknown>>>({
  taskQueue: "trustflow.evi-post",
  startToCloseTimeout: "1 minute",
});

export async function floor(): Promise<void> {
  let isClosed = false;
  setHandler(defineSignal<[{ kind: string }[]]>("providerEvents"), (events) => {
    isClosed ||= events.some(({ kind }) => kind === "Closed");
  });
  await submit();
  await condition(() => isClosed);
  await ask();
}
