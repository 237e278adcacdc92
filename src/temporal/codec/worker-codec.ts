// The worker's codecs never throw at a payload that no holder of the keys has written: such a payload stays in the history, so a process
// would never run again. They note what is wrong, and the guards refuse it (decision 22).
import { defaultPayloadConverter } from "@temporalio/common";
import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import { isUndecryptable, policyMark, problemMark } from "../../contracts/shared/payload-marks.js";
import type { PayloadProblem, RefusedPayload } from "../../contracts/shared/payload-marks.js";
import { UnknownKeyError } from "../../crypto/errors.js";
import { isEncrypted } from "./codec.js";
import type { EncryptionCodec } from "./codec.js";

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
export class WorkflowCodec extends WorkerCodec {
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
export class ActivityCodec extends WorkerCodec {
  protected shown({ payload, problem, reason = "" }: Decoded): Payload {
    if (!problem || !(isUndecryptable(problem) || this.refused.includes(problem))) return payload;
    const refused: RefusedPayload = { trustflowRefused: problem, reason };
    return defaultPayloadConverter.toPayload(refused);
  }
}
