// The handle of each process: what every process takes, and a method for each of its own updates, from the registry.
import type { Client } from "@temporalio/client";
import type { UpdateContract } from "../contracts/definition/message-contract.js";
import { contractOf, processes } from "../contracts/registry.js";
import type { ProcessName, Registry, ResultOf } from "../contracts/registry.js";
import type { Decider } from "../contracts/shared/messages.js";
import { ProcessHandle } from "./handle.js";
import type { Writing } from "./handle.js";

/** Who decides, and why. */
type Stated = Omit<Decider, "signature">;

/** The same `updateId` is the same update; default: a random one. */
type UpdateMethod<Update> =
  Update extends UpdateContract<infer Given, infer Answer, infer Decides>
    ? (
        ...given: Decides extends true
          ? [...Given, updateId?: string, stated?: Stated]
          : [...Given, updateId?: string]
      ) => Promise<Answer>
    : never;

type UpdateMethods<Updates> = { [name in keyof Updates]: UpdateMethod<Updates[name]> };

type Handles = {
  [P in ProcessName]: ProcessHandle<ResultOf<P>> & UpdateMethods<Registry[P]["updates"]>;
};
export type HandleOf<P extends ProcessName> = Handles[P];
export type AnyHandle = Handles[ProcessName];

type HandleClass<P extends ProcessName> = new (
  client: Client,
  processName: ProcessName,
  id: string,
  writing?: Writing,
) => Handles[P];

function handleClass(processName: ProcessName) {
  const handle = class extends ProcessHandle<unknown> {
    static {
      for (const [name, update] of Object.entries(contractOf(processName).updates))
        Object.defineProperty(this.prototype, name, {
          writable: true,
          configurable: true,
          value: function send(this: InstanceType<typeof handle>, ...given: unknown[]) {
            return this.send(update, given);
          },
        });
    }
  };
  const name = `${processName.charAt(0).toUpperCase()}${processName.slice(1)}Handle`;
  return Object.defineProperty(handle, "name", { value: name });
}

/** The class of handle that a process has. */
export const handles = Object.fromEntries(
  processes.map((processName) => [processName, handleClass(processName)]),
) as unknown as { [P in ProcessName]: HandleClass<P> };

// The first five processes have these names too; every process has `HandleOf<"…">`.
export const PostalHandle = handles.sendPostal;
export type PostalHandle = HandleOf<"sendPostal">;
export const CertificateHandle = handles.issueCertificate;
export type CertificateHandle = HandleOf<"issueCertificate">;
export const MessageHandle = handles.sendMessage;
export type MessageHandle = HandleOf<"sendMessage">;
export const OneShotHandle = handles.signOneShot;
export type OneShotHandle = HandleOf<"signOneShot">;
export const EnvelopeHandle = handles.signEnvelope;
export type EnvelopeHandle = HandleOf<"signEnvelope">;
