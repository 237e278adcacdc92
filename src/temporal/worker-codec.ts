// The codecs of the worker. They never throw at a payload that no holder of the keys has written: such a payload stays in the
// history, so a process would never run again. They note what is wrong, and the guards refuse it (decision 22).
import { defaultPayloadConverter } from "@temporalio/common";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { policyMark, problemMark } from "../contracts/payload-marks.js";
import type {
  PayloadProblem,
  PlaintextPolicy,
  RefusedPayload,
} from "../contracts/payload-marks.js";
import { isEncrypted } from "./codec.js";
import type { EncryptionCodec } from "./codec.js";

type Decoded = { payload: Payload } | { problem: PayloadProblem; reason: string };

abstract class WorkerCodec implements PayloadCodec {
  protected readonly policy: PlaintextPolicy;
  readonly #codec: EncryptionCodec;

  constructor(codec: EncryptionCodec, policy: PlaintextPolicy) {
    this.#codec = codec;
    this.policy = policy;
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    return this.#codec.encode(payloads);
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.all(
      payloads.map(async (payload) => this.shown(payload, await this.#decoded(payload))),
    );
  }

  protected abstract shown(payload: Payload, decoded: Decoded): Payload;

  async #decoded(payload: Payload): Promise<Decoded> {
    if (!isEncrypted(payload)) return { problem: "plaintext", reason: "it is not encrypted" };
    try {
      const [decoded] = await this.#codec.decode([payload]);
      return { payload: decoded as Payload };
    } catch (error) {
      return { problem: "unreadable", reason: (error as Error).message };
    }
  }
}

/** For workflows: each payload keeps its value, and says what is wrong with it (src/workflows/payload-guard.ts). */
export class WorkflowCodec extends WorkerCodec {
  protected shown(payload: Payload, decoded: Decoded): Payload {
    const { metadata, ...rest } = "payload" in decoded ? decoded.payload : payload;
    const { [problemMark]: _, ...others } = metadata ?? {};
    const problem = "problem" in decoded && { [problemMark]: Buffer.from(decoded.problem) };
    return { ...rest, metadata: { ...others, ...problem, [policyMark]: Buffer.from(this.policy) } };
  }
}

/** For activities, whose guard (activity-guard.ts) sees no payload: what is refused becomes a value that says so. */
export class ActivityCodec extends WorkerCodec {
  protected shown(payload: Payload, decoded: Decoded): Payload {
    if ("payload" in decoded) return decoded.payload;
    const { problem, reason } = decoded;
    if (problem === "plaintext" && this.policy === "accept") return payload;
    const refused: RefusedPayload = { trustflowRefused: problem, reason };
    return defaultPayloadConverter.toPayload(refused);
  }
}
