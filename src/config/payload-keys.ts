// Who may read and who may write payloads, as the configuration says (decision 22).
import { isReadable, required, ringOf } from "./config.js";
import type { Config } from "./config.js";
import { ConfigurationError } from "./errors.js";
import type { PayloadProblem } from "../contracts/shared/payload-marks.js";
import type { KeyRing } from "../crypto/key-ring.js";

export interface PayloadKeys {
  ring: KeyRing;
  /** Proves to the workers who wrote; without it only a deployment that does not ask for it takes what is written. */
  writeRing: KeyRing | undefined;
}

/** For a role or a client that starts processes or changes them. */
export function payloadKeys(config: Config): PayloadKeys {
  const writeRing = config.keys.codecWrite && ringOf(config, "codecWrite");
  return { ring: ringOf(config, "codec"), writeRing };
}

/** For what only looks: `keys.codecRead` is enough. */
export function readingRing(config: Config): KeyRing {
  return ringOf(config, mayOnlyRead(config) ? "codecRead" : "codec");
}

export function mayOnlyRead({ keys }: Config): boolean {
  return !isReadable(keys.codec) && keys.codecRead !== undefined;
}

/** The reader of payloads has tried to write. */
export function writingRefused(): ConfigurationError {
  return new ConfigurationError([
    "keys.codec is required to start or change a process: keys.codecRead only allows reading",
  ]);
}

export function refusedPayloads(config: Config): PayloadProblem[] {
  const { codec, environment } = config;
  const isSandbox = environment === "sandbox";
  const plaintext = codec.plaintext ?? (isSandbox ? "accept" : "refuse");
  const hasWriteRing = isReadable(config.keys.codecWrite);
  const untagged = codec.untagged ?? (hasWriteRing ? plaintext : "accept");
  if (untagged === "refuse" && plaintext === "accept")
    throw new ConfigurationError(['codec.untagged = "refuse" requires codec.plaintext = "refuse"']);
  if (untagged === "refuse") required(config.keys.codecWrite, "keys.codecWrite");
  if (plaintext === "accept") return [];
  return [
    "plaintext",
    "unreadable",
    "forged",
    ...(untagged === "refuse" ? (["untagged"] as const) : []),
  ];
}

/** Whether a client believes only what is encrypted. Without `environment` it may look at a sandbox, so it must be told to. */
export function clientRefusesPlaintext({ codec, environment = "sandbox" }: Config): boolean {
  return (codec.plaintext ?? (environment === "sandbox" ? "accept" : "refuse")) === "refuse";
}
