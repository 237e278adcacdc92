// The start methods of the client, one per process: `sendPostal(id, input)` is `start("sendPostal", id, input)`.
import { processes } from "../contracts/registry.js";
import type { InputOf, ProcessName, Registry } from "../contracts/registry.js";
import type { HandleOf } from "./handles.js";

type Starts = {
  [P in keyof Registry]: (id: string, input: InputOf<P>) => Promise<HandleOf<P>>;
};

abstract class AnyStart {
  abstract start<P extends ProcessName>(
    processName: P,
    id: string,
    input: object,
  ): Promise<HandleOf<P>>;

  static {
    for (const processName of processes)
      Object.defineProperty(this.prototype, processName, {
        writable: true,
        configurable: true,
        value: function start(this: AnyStart, id: string, input: object) {
          return this.start(processName, id, input);
        },
      });
  }
}

export const ProcessStarts = AnyStart as unknown as abstract new () => AnyStart & Starts;
