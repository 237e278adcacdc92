// Faults, addressed by operation and nth call, by account, by the caller's LookupKey, or by a magic value in the request.
export const requestFaultKinds = [
  "reject",
  "web-page",
  "code",
  "cut",
  "slow",
  "cut-after-commit",
  "error-after-commit",
  "cut-mid-body",
  "unreadable",
  "slow-answer",
  "invisible",
] as const;
export const callbackFaultKinds = ["lost", "doubled", "delayed", "reordered"] as const;
export type FaultKind = (typeof requestFaultKinds)[number] | (typeof callbackFaultKinds)[number];

export interface FaultOptions {
  /** `<provider>.<operation>`, `<provider>.callback`, `<provider>.*` or `*` */
  operation: string;
  kind: FaultKind;
  /** reject (default 503), error-after-commit (default 500) */
  status?: number;
  /** code, error-after-commit: the provider's own error code, in its own error body */
  code?: number;
  /** reject: the Retry-After header */
  retryAfterSeconds?: number;
  /** slow, slow-answer, invisible: real milliseconds; delayed: virtual milliseconds */
  ms?: number;
  /** invisible: how many queries miss the new item (default 2, where `ms` is not given) */
  queries?: number;
  /** cut-after-commit, error-after-commit: the idempotency token counts as answered with 200 (default false) */
  cached?: boolean;
  /** The first matching call that it hits, from 1 (default 1). */
  call?: number;
  /** How many matching calls it hits from there (default 1). */
  times?: number | "always";
  /** One of the caller's own keys for the item; where a provider has no such keys, the intent. */
  lookupKey?: string;
  account?: string;
  /** Callbacks: only events of this kind. */
  event?: string;
  /** Only for so many real milliseconds from now. */
  forMs?: number;
}

export interface FaultRule extends FaultOptions {
  id: string;
  /** Matching calls so far. */
  seen: number;
  fired: number;
  expiresAt?: number;
}

export interface FaultSubject {
  operation: string;
  account?: string | undefined;
  lookupKeys: string[];
  event?: string;
  /** Under this key the faults of a magic value are counted. */
  magicKey?: string | undefined;
}

const isCallbackFault = (kind: FaultKind) =>
  (callbackFaultKinds as readonly string[]).includes(kind);

const isExpired = ({ expiresAt = Infinity }: FaultRule, now: number) => now >= expiresAt;

/** The last of the matching calls that it hits. */
const lastCallOf = ({ call = 1, times = 1 }: FaultRule) =>
  times === "always" ? Infinity : call + times - 1;

function matches(rule: FaultRule, subject: FaultSubject, now: number): boolean {
  const isCallback = subject.operation.endsWith(".callback");
  const [provider] = subject.operation.split(".");
  return (
    isCallbackFault(rule.kind) === isCallback &&
    (rule.operation === subject.operation ||
      rule.operation === "*" ||
      rule.operation === `${provider}.*`) &&
    !isExpired(rule, now) &&
    (rule.lookupKey === undefined || subject.lookupKeys.includes(rule.lookupKey)) &&
    (rule.account === undefined || rule.account === subject.account) &&
    (rule.event === undefined || rule.event === subject.event)
  );
}

export class Faults {
  #rules: FaultRule[] = [];
  #magic = new Map<string, FaultRule[]>();
  #count = 0;
  readonly #operations = new Set(["*"]);

  /** Names the operations that a fault may be about. */
  know(provider: string, operations: string[]): void {
    for (const name of ["*", ...operations]) this.#operations.add(`${provider}.${name}`);
  }

  /** Throws a RangeError that names the field. */
  add(options: FaultOptions): FaultRule {
    if (!this.#operations.has(options.operation)) {
      throw new RangeError(`operation: must be one of ${[...this.#operations].join(", ")}`);
    }
    if (options.kind === "code" && options.code === undefined) {
      throw new RangeError("code: is required");
    }
    const isForCallbacks = options.operation.endsWith(".callback");
    if (isForCallbacks !== isCallbackFault(options.kind) && !options.operation.endsWith("*")) {
      throw new RangeError(`kind: ${options.kind} does not happen to ${options.operation}`);
    }
    const rule = this.#rule(options);
    this.#rules.push(rule);
    return rule;
  }

  /** The faults that a magic value asks for; learnt once per key, so that a repeated request is a second call. */
  learn(magicKey: string, faults: FaultOptions[]): void {
    if (faults.length === 0 || this.#magic.has(magicKey)) return;
    this.#magic.set(
      magicKey,
      faults.map((fault) => this.#rule(fault)),
    );
  }

  /** Counts the call and returns the rules that hit it. */
  take(subject: FaultSubject): FaultRule[] {
    const now = Date.now();
    const magic = subject.magicKey === undefined ? [] : (this.#magic.get(subject.magicKey) ?? []);
    return [...this.#rules, ...magic].filter((rule) => {
      if (!matches(rule, subject, now)) return false;
      rule.seen += 1;
      const hits = rule.seen >= (rule.call ?? 1) && rule.seen <= lastCallOf(rule);
      if (hits) rule.fired += 1;
      return hits;
    });
  }

  list(): FaultRule[] {
    return this.#rules;
  }

  /** A request to come may meet one of them. */
  get waitForCalls(): boolean {
    const now = Date.now();
    return [...this.#rules, ...[...this.#magic.values()].flat()].some(
      (rule) =>
        !isCallbackFault(rule.kind) && !isExpired(rule, now) && rule.seen < lastCallOf(rule),
    );
  }

  remove(id: string): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((rule) => rule.id !== id);
    return this.#rules.length < before;
  }

  clear(): void {
    this.#rules = [];
    this.#magic.clear();
  }

  save(): { rules: FaultRule[]; magic: [string, FaultRule[]][]; count: number } {
    return { rules: this.#rules, magic: [...this.#magic], count: this.#count };
  }

  load(state: { rules: FaultRule[]; magic: [string, FaultRule[]][]; count: number }): void {
    this.#rules = state.rules;
    this.#magic = new Map(state.magic);
    this.#count = state.count;
  }

  #rule(options: FaultOptions): FaultRule {
    this.#count += 1;
    const expires = options.forMs === undefined ? {} : { expiresAt: Date.now() + options.forMs };
    return { ...options, ...expires, id: `fault-${this.#count}`, seen: 0, fired: 0 };
  }
}
