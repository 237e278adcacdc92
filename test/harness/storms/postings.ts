// What a storm is made of: genuine callbacks, doubled and shuffled, and among them forged, malformed and oversized ones.
import fc from "fast-check";
import type { ProcessSubject } from "../../../src/callbacks/address.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import type { Posting } from "./sender.js";
import type { CalledBack } from "../../processes/process-under-test.js";
import { callbackAddress, mark } from "../stack/inbox.js";
import { ringOf, type TestStack } from "../stack/stack.js";

export class Postings {
  readonly #system: TestStack;
  readonly #underTest: CalledBack;
  #number = 0;

  constructor(system: TestStack, underTest: CalledBack) {
    this.#system = system;
    this.#underTest = underTest;
  }

  url(id: string, over: Partial<ProcessSubject> = {}, ring?: KeyRing): string {
    const { process: processName, provider } = this.#underTest;
    const subject = { provider, workflowId: `${processName}/${id}`, ...over };
    return callbackAddress(this.#system, subject, ring);
  }

  genuine(id: string, count: number): Posting[] {
    const url = this.url(id);
    return Array.from({ length: count }, () => {
      const { identifier, body } = this.#event();
      const key = `${this.#underTest.process}/${id} ${identifier}`;
      return { kind: "genuine", url, body: JSON.stringify(body), key };
    });
  }

  /** A foreign key, another process's proof, another namespace under the old proof, one digit changed. */
  forged(id: string, count: number): Posting[] {
    const foreign = KeyRing.parse(
      generateKeyRing(ringOf(this.#system.stack, "CALLBACK").active.id),
    );
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
  const shuffled = fc.shuffledSubarray(all, { minLength: all.length });
  return fc.sample(shuffled, { seed, numRuns: 1 }).flat();
}

function halves(url: string): [string, string] {
  const dot = url.lastIndexOf(".");
  return [url.slice(0, dot), url.slice(dot + 1)];
}
