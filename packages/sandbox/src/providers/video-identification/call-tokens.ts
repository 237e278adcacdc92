// The JWTs of calls (P1 §5.2): scoped to one conference, good for a limited time. Nothing but the sandbox can read or make them.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { SandboxParts } from "../../engine/parts.js";

const base64url = (value: string) => Buffer.from(value, "utf8").toString("base64url");
const HEADER = base64url(JSON.stringify({ alg: "HS256", typ: "JWT" }));

interface Claims {
  conf: string;
  /** Seconds, by `personTime`. */
  exp: number;
}

export class CallTokens {
  readonly #key: string;
  readonly #lifetimeMs: number;
  readonly #now: () => number;

  constructor({ options, personNow }: SandboxParts) {
    this.#key = `${options.seed}/video-identification.call-token`;
    this.#lifetimeMs = options.callTokenLifetimeMs;
    this.#now = personNow;
  }

  /** `isExpired`: one that was never good. */
  mint(conf: string, { isExpired = false } = {}): string {
    const endsAt = this.#now() + (isExpired ? -1_000 : this.#lifetimeMs);
    const claims: Claims = { conf, exp: Math.floor(endsAt / 1_000) };
    const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`;
    return `${signed}.${this.#signature(signed)}`;
  }

  /** The conference that a token is for; undefined for what is no token of ours, and for one that is too old. */
  conferenceOf(token: string): string | undefined {
    const [header, claims = "", signature = "", ...more] = token.split(".");
    if (header !== HEADER || more.length > 0) return undefined;
    const expected = Buffer.from(this.#signature(`${header}.${claims}`));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const { conf, exp } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8")) as Claims;
    return this.#now() < exp * 1_000 ? conf : undefined;
  }

  #signature(signed: string): string {
    return createHmac("sha256", this.#key).update(signed).digest("base64url");
  }
}
