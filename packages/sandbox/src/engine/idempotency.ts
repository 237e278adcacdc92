// X-Evi-IdempotencyToken (P2 §4.1): only an answered 200 is remembered; anything else runs again, and so does a request
// with a token whose first request is still running. Repeats without a look-up after an unclear end are violations.
interface TokenRecord {
  digest: string;
  /** The body of the answered 200. */
  body?: string;
  /** The last request ended so that its caller cannot know what became of it. */
  isUnclear?: boolean;
}

export interface IdempotencyState {
  tokens: [string, TokenRecord][];
}

export interface TokenBegin {
  replay?: string;
  violations: string[];
}

export interface TokenEnding {
  /** The body to remember: of an answered 200 only. */
  body?: string | undefined;
  isUnclear: boolean;
  lookupKeys: string[];
}

export class IdempotencyTokens {
  readonly #tokens = new Map<string, TokenRecord>();
  readonly #running = new Map<string, number>();
  /** Lookup key → tokens with an unclear end that were not looked up since. */
  readonly #unclear = new Map<string, Set<string>>();

  begin(token: string, digest: string): TokenBegin {
    const violations: string[] = [];
    const known = this.#tokens.get(token);
    if (known && known.digest !== digest) violations.push("tokenForOtherBody");
    if (known?.body !== undefined) return { replay: known.body, violations };
    if (this.#running.has(token)) violations.push("concurrentToken");
    else if (known?.isUnclear) violations.push("repeatedWithoutLookUp");
    this.#running.set(token, (this.#running.get(token) ?? 0) + 1);
    if (!known) this.#tokens.set(token, { digest });
    return { violations };
  }

  /** `hasBegun` is false where the request was refused before its token was looked at. */
  end(token: string, digest: string, hasBegun: boolean, ending: TokenEnding): void {
    if (hasBegun) {
      const running = (this.#running.get(token) ?? 1) - 1;
      if (running > 0) this.#running.set(token, running);
      else this.#running.delete(token);
    }
    const record = this.#tokens.get(token) ?? { digest };
    if (ending.isUnclear || hasBegun) this.#tokens.set(token, record);
    record.isUnclear = ending.isUnclear;
    if (ending.body !== undefined) record.body = ending.body;
    if (!ending.isUnclear) return;
    for (const key of ending.lookupKeys) {
      const tokens = this.#unclear.get(key) ?? new Set();
      this.#unclear.set(key, tokens.add(token));
    }
  }

  /** The caller has asked by this lookup key, so a repeat is no longer blind. */
  lookedUp(key: string): void {
    for (const token of this.#unclear.get(key) ?? []) {
      const record = this.#tokens.get(token);
      if (record) record.isUnclear = false;
    }
    this.#unclear.delete(key);
  }

  clear(): void {
    this.#tokens.clear();
    this.#running.clear();
    this.#unclear.clear();
  }

  save(): IdempotencyState {
    return { tokens: [...this.#tokens] };
  }

  load(state: IdempotencyState): void {
    this.clear();
    // Who looked up what is not kept over a restart, so nothing is held against the caller.
    for (const [token, record] of state.tokens)
      this.#tokens.set(token, { ...record, isUnclear: false });
  }
}
