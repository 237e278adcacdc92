// How values cross the wire, the same for every client, worker and workflow bundle of one deployment.
import { fileURLToPath } from "node:url";
import type { DataConverter } from "@temporalio/common";
import type { KeyRing } from "../crypto/key-ring.js";
import { EncryptionCodec } from "./codec.js";

/** Also for `bundleWorkflowCode`: what only the worker is told does not reach a prebuilt bundle. */
export const failureConverterPath = fileURLToPath(
  new URL("failure-converter.cjs", import.meta.url),
);

export function dataConverter(ring: KeyRing): DataConverter {
  return { failureConverterPath, payloadCodecs: [new EncryptionCodec(ring)] };
}
