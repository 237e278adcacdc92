// A process that throws at each signal but "end".
import { condition, defineSignal, setDefaultSignalHandler, setHandler } from "@temporalio/workflow";

export async function sendPostal(): Promise<void> {
  let isOver = false;
  setHandler(defineSignal("end"), () => {
    isOver = true;
  });
  setDefaultSignalHandler(() => {
    throw new Error("a defect");
  });
  await condition(() => isOver);
}
