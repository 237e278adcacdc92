// How values cross the wire, the same for every client, worker and workflow bundle of one deployment.
import { fileURLToPath } from "node:url";
import { defaultPayloadConverter } from "@temporalio/common";
import type {
  DataConverter,
  PayloadCodec,
  Payload,
  SerializationContext,
} from "@temporalio/common";
import { isUndecryptable, policyMark, problemMark } from "../../contracts/shared/payload-marks.js";
import type { PayloadProblem, RefusedPayload } from "../../contracts/shared/payload-marks.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { ClientCodec } from "./client-codec.js";
import { EncryptionCodec, isEncrypted } from "./codec.js";
import { UnknownKeyError } from "../../crypto/errors.js";

// The worker's codecs never throw at a payload that no holder of the keys has written: such a payload stays in the history, so a process
// would never run again. They note what is wrong, and the guards refuse it (decision 22).

interface Decoded {
  /** As it came, where it could not be decoded. */
  payload: Payload;
  problem?: PayloadProblem;
  reason?: string;
}

abstract class WorkerCodec implements PayloadCodec {
  protected readonly refused: readonly PayloadProblem[];
  readonly #codec: EncryptionCodec;

  constructor(codec: EncryptionCodec, refused: readonly PayloadProblem[]) {
    this.#codec = codec;
    this.refused = refused;
  }

  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return this.#codec.encode(payloads, context);
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return Promise.all(
      payloads.map(async (payload) => this.shown(await this.#decoded(payload, context))),
    );
  }

  protected abstract shown(decoded: Decoded): Payload;

  async #decoded(payload: Payload, context: SerializationContext | undefined): Promise<Decoded> {
    if (!isEncrypted(payload))
      return { payload, problem: "plaintext", reason: "it is not encrypted" };
    try {
      const [decoded = payload] = await this.#codec.decode([payload]);
      return this.#codec.isTagged(payload, context)
        ? { payload: decoded }
        : { payload: decoded, problem: "untagged", reason: "it has no tag of keys.codecWrite" };
    } catch (error) {
      const problem = error instanceof UnknownKeyError ? "unreadable" : "forged";
      return { payload, problem, reason: (error as Error).message };
    }
  }
}

/** For workflows: each payload keeps its value, and says what is wrong with it (src/workflows/runtime/payload-guard.ts). */
class WorkflowCodec extends WorkerCodec {
  protected shown({ payload, problem }: Decoded): Payload {
    const { metadata, ...rest } = payload;
    const { [problemMark]: _, ...others } = metadata ?? {};
    const marks = {
      ...(problem && { [problemMark]: Buffer.from(problem) }),
      [policyMark]: Buffer.from(this.refused.join(",")),
    };
    return { ...rest, metadata: { ...others, ...marks } };
  }
}

/** For activities, whose guard (activity-guard.ts) sees no payload: what is refused becomes a value that says so. */
class ActivityCodec extends WorkerCodec {
  protected shown({ payload, problem, reason = "" }: Decoded): Payload {
    if (!problem || !(isUndecryptable(problem) || this.refused.includes(problem))) return payload;
    const refused: RefusedPayload = { trustflowRefused: problem, reason };
    return defaultPayloadConverter.toPayload(refused);
  }
}

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
