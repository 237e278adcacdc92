// How values cross the wire, the same for every client, worker and workflow bundle of one deployment.
import { fileURLToPath } from "node:url";
import type { DataConverter, PayloadCodec } from "@temporalio/common";
import type { PayloadProblem } from "../../contracts/shared/payload-marks.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { ClientCodec } from "./client-codec.js";
import { EncryptionCodec } from "./codec.js";
import { ActivityCodec, WorkflowCodec } from "./worker-codec.js";

/** Also for `bundleWorkflowCode`, because options of the worker do not reach a prebuilt bundle. */
export const failureConverterPath = pathOf("failure-converter.cjs");

/** For clients. With `refusePlaintext` they believe only what is encrypted. */
export function dataConverter(
  ring: KeyRing,
  writeRing?: KeyRing,
  refusePlaintext = false,
): DataConverter {
  const codec = new EncryptionCodec(ring, writeRing);
  if (!refusePlaintext) return converter(codec);
  const failures = pathOf("client-failure-converter.cjs");
  return { failureConverterPath: failures, payloadCodecs: [new ClientCodec(codec)] };
}

/** For a worker of each kind: they refuse what no holder of the keys has written. */
export function workerConverters(
  { ring, writeRing }: { ring: KeyRing; writeRing: KeyRing | undefined },
  refused: readonly PayloadProblem[],
) {
  const codec = new EncryptionCodec(ring, writeRing);
  return {
    workflows: converter(new WorkflowCodec(codec, refused)),
    activities: converter(new ActivityCodec(codec, refused)),
  };
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

function converter(codec: PayloadCodec): DataConverter {
  return { failureConverterPath, payloadCodecs: [codec] };
}
