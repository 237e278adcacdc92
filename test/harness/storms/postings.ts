// What a storm is made of: genuine callbacks, doubled and shuffled, and among them forged, malformed and oversized ones.
import { callbackUrl } from "../../../src/callbacks/address.js";
import type { ProcessSubject } from "../../../src/callbacks/address.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import type { Posting } from "./sender.js";
import type { CalledBack } from "../../processes/process-under-test.js";
import type { TestStack } from "../stack/stack.js";

/** Every identifier of ours begins so; it is the note of the event too, by which a timeline shows it. */
export const mark = "storm-";

export class Postings {
  readonly #ring: KeyRing;
  readonly #publicUrl: string;
  readonly #namespace: string;
  readonly #underTest: CalledBack;
  #number = 0;

  constructor({ stack }: TestStack, underTest: CalledBack) {
    const { env } = stack;
    this.#ring = KeyRing.parse(env["TRUSTFLOW_KEYS__CALLBACK"] ?? "");
    this.#publicUrl = env["TRUSTFLOW_CALLBACKS__PUBLIC_URL"] ?? "";
    this.#namespace = env["TEMPORAL_NAMESPACE"] ?? "";
    this.#underTest = underTest;
  }

  url(id: string, over: Partial<ProcessSubject> = {}, ring = this.#ring): string {
    const { process: processName, provider } = this.#underTest;
    const workflowId = `${processName}/${id}`;
    return callbackUrl(ring, this.#publicUrl, {
      provider,
      namespace: this.#namespace,
      workflowId,
      ...over,
    });
  }

  genuine(id: string, count: number): Posting[] {
    return Array.from({ length: count }, () => {
      const { identifier, body } = this.#event();
      return {
        kind: "genuine",
        url: this.url(id),
        body: JSON.stringify(body),
        key: `${this.#underTest.process}/${id} ${identifier}`,
      };
    });
  }

  /** A foreign key, another process's proof, another namespace under the old proof, one digit changed. */
  forged(id: string, count: number): Posting[] {
    const foreign = KeyRing.parse(generateKeyRing(this.#ring.active.id));
    const [own, proof] = halves(this.url(id));
    const forgeries = [
      this.url(id, {}, foreign),
      `${halves(this.url(`${id}-other`))[0]}.${proof}`,
      `${halves(this.url(id, { namespace: "other" }))[0]}.${proof}`,
      `${own}.${proof.slice(0, -1)}${proof.endsWith("0") ? "1" : "0"}`,
    ];
    return Array.from({ length: count }, (_, index) => ({
      kind: "forged",
      url: forgeries[index % forgeries.length] ?? "",
      body: JSON.stringify(this.#event().body),
    }));
  }

  malformed(id: string, count: number): Posting[] {
    const bodies = ["", "{", '{"Identifier":', "Identifier=x", "\u0000"];
    return Array.from({ length: count }, (_, index) => ({
      kind: "malformed",
      url: this.url(id),
      body: bodies[index % bodies.length] ?? "",
    }));
  }

  oversized(id: string, count: number): Posting[] {
    const body = JSON.stringify({ ...this.#event().body, Padding: "x".repeat(400_000) });
    return Array.from({ length: count }, () => ({ kind: "oversized", url: this.url(id), body }));
  }

  #event(): { identifier: string; body: object } {
    this.#number += 1;
    const identifier = `${mark}${this.#number}`;
    const at = new Date(Date.UTC(2026, 0, 1) + this.#number * 1_000);
    return { identifier, body: this.#underTest.callback(identifier, at) };
  }
}

/** Each third one twice, and all in an order that the seed decides. */
export function doubledAndShuffled(postings: readonly Posting[], seed: number): Posting[] {
  const all = [...postings, ...postings.filter((_, index) => index % 3 === 0)];
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other] as Posting, all[at] as Posting];
  }
  return all;
}

function halves(url: string): [string, string] {
  const dot = url.lastIndexOf(".");
  return [url.slice(0, dot), url.slice(dot + 1)];
}
