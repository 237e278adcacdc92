// Callbacks that others than the providers of a simulation send.
import { splitWorkflowId } from "../../src/contracts/shared/names.js";
import { contractOf } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { callbackAddress } from "../harness/stack/inbox.js";
import type { Stage } from "./stage.js";

/** The address that the process has given to its provider, with the key that is active now. */
export function addressOf({ system: { env } }: Pick<Stage, "system">, workflowId: string): string {
  const { provider } = contractOf(splitWorkflowId(workflowId)!.process as ProcessName);
  return callbackAddress({ stack: { env } }, { provider, workflowId });
}

export function closedEvent(identifier: string): string {
  return JSON.stringify({ Identifier: identifier, Kind: "Closed", Date: new Date().toISOString() });
}

/** `from`: the program that sends it. The answer; undefined where there is none. */
export function post(
  { world }: Pick<Stage, "world">,
  from: string,
  url: string,
  body: string,
): Promise<Response | undefined> {
  const headers = { "content-type": "application/json" };
  return world
    .program(from)
    .run(() => fetch(url, { method: "POST", headers, body }).catch(() => undefined));
}
