// Finds the conference of a close event that has a token and nothing else (P1 §6.1, docs/decisions/0033). Its token is tried against the
// conferences of the account, and only what the provider answers says which it opens. Beside the activities, and a few calls at a
// time, so that forged tokens hold up nothing but each other.
import { setTimeout as sleep } from "node:timers/promises";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import { keyOfAccount } from "../../contracts/shared/sealed-secret.js";
import { Secret } from "../../contracts/shared/values.js";
import { isUndecryptable } from "../../journal/errors.js";
import type { UnaddressedToken, UnaddressedTokens } from "../../journal/unaddressed-tokens.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import * as video from "../../providers/video-identification/client.js";
import type { VideoIdentificationAccount } from "../../providers/video-identification/client.js";
import { claimsOf } from "../../providers/video-identification/wire.js";
import type { Circuits } from "../runtime/circuit-breaker.js";
import { provider } from "./context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";

export interface MatcherDependencies extends Pick<
  ProviderDependencies<typeof provider>,
  "accounts" | "circuits" | "secrets"
> {
  tokens: UnaddressedTokens;
  /** One worker at a time asks the provider, whose limits are the account's. One for all accounts, because it takes a connection. */
  holder: { isHeld(): Promise<boolean>; close(): void };
  /** Counts a call to the provider. */
  onCall?: (operation: Counted, result: ProblemKind | "ok") => void;
  warn(message: string, details: object): void;
}

type Counted = "conferenceData" | "genAPIToken";

export interface MatcherTimes {
  /** Between two rounds. */
  pauseMs: number;
  /** How long a conference may be unknown to the provider, or to us. */
  invisibleMs: number;
  /** The least wait before a token is tried again. */
  retryMs: number;
}

const defaultTimes: MatcherTimes = {
  pauseMs: 2_000,
  invisibleMs: 120_000,
  retryMs: 10_000,
};

/** So many tokens of an account are tried in one round. */
const MAX_TOKENS = 2;
/** So many tokens of an account have their claims looked at in one round. */
const MAX_UNREAD = 200;
/** So many conferences are asked for with a token in one round. */
const MAX_CALLS = 10;
/** A token is tried against the newest conferences of its account. */
const MAX_CONFERENCES = 500;
/** After it another worker may take a token over; to try it twice does no harm. */
const LEASE_MS = 60_000;

export class TokenMatcher {
  readonly #deps: MatcherDependencies;
  readonly #times: MatcherTimes;
  readonly #ending = new AbortController();
  /** Until when an account is not asked. */
  readonly #restsUntil = new Map<string, number>();

  constructor(deps: MatcherDependencies, times: Partial<MatcherTimes> = {}) {
    this.#deps = deps;
    this.#times = { ...defaultTimes, ...times };
  }

  async run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      // An account may come later.
      if (Object.keys(this.#deps.accounts).length > 0)
        await this.round().catch((error: unknown) => this.#report(error));
      await sleep(this.#times.pauseMs, undefined, { signal }).catch(() => undefined);
    }
    this.#deps.holder.close();
  }

  /** A call that is under way is given up: it has no effect. */
  close(): void {
    this.#ending.abort();
  }

  /** Tries a few tokens of each account. */
  async round(): Promise<void> {
    const { accounts, tokens, holder } = this.#deps;
    if (!(await tokens.areDue(provider, Object.keys(accounts)))) return holder.close();
    if (!(await holder.isHeld())) return;
    for (const account of Object.values(accounts))
      if (!this.#ending.signal.aborted)
        await this.#roundOf(account).catch((error: unknown) => this.#report(error));
  }

  /** Tries each token against a few of the account's conferences. */
  async #roundOf(account: VideoIdentificationAccount): Promise<void> {
    if ((this.#restsUntil.get(account.name) ?? 0) > performance.now()) return;
    const { tokens, circuits } = this.#deps;
    if (isOpen(circuits, account)) return;
    const of = { provider, account: account.name };
    await this.#read(account);
    const taken = await tokens.take(of, MAX_TOKENS, LEASE_MS);
    for (const token of taken)
      await this.#try(account, token).catch((error: unknown) => this.#report(error));
  }

  /** Looks which tokens name a conference of ours in their claims, so that they come before those that are forged blindly. */
  async #read(account: VideoIdentificationAccount): Promise<void> {
    const { tokens } = this.#deps;
    const of = { provider, account: account.name };
    const unread = await tokens.unread(of, MAX_UNREAD);
    if (unread.length === 0) return;
    const read = unread.map(({ callback, sealed }) => ({
      callback,
      claims: [...claimsOf(this.#opened(account, sealed) ?? "")],
    }));
    const named = read.flatMap(({ claims }) => claims);
    const known = new Set(await tokens.references(of, named, 0));
    const isNamed = read.map(({ claims }) => claims.some((claim) => known.has(claim)));
    await tokens.noteRead(
      read.map(({ callback }) => callback),
      isNamed,
    );
  }

  async #try(
    account: VideoIdentificationAccount,
    { callback, sealed, refused, ageMs }: UnaddressedToken,
  ): Promise<void> {
    const { tokens } = this.#deps;
    const waitMs = Math.max(this.#times.retryMs, ageMs / 4);
    const isOld = ageMs > this.#times.invisibleMs;
    const token = this.#opened(account, sealed);
    // Another worker may have the key.
    if (token === undefined) return tokens.refuse(callback, [], waitMs);
    const claims = claimsOf(token);
    const of = { provider, account: account.name };
    const known = await tokens.references(of, [...claims], MAX_CONFERENCES);
    const left = inOrder(
      known.filter((one) => !refused.includes(one)),
      claims,
    );
    const found: string[] = [];
    for (const idConference of left.slice(0, MAX_CALLS)) {
      const answer = await this.#ask(account, idConference, token);
      if (typeof answer === "object") return tokens.judge(callback, answer.idConference);
      if (answer === "busy") return tokens.refuse(callback, [], waitMs);
      if (answer === "refused" || (answer === "invisible" && isOld)) found.push(idConference);
    }
    const some = found.at(-1) ?? refused.at(-1);
    const isServed = some !== undefined && (await this.#serves(account, some));
    // While the service is away, a gateway's answer says nothing of the token.
    if (!isServed) return tokens.refuse(callback, [], waitMs);
    if (found.length === left.length && isOld) return tokens.judge(callback);
    await tokens.refuse(callback, found, left.length > MAX_CALLS ? 0 : waitMs);
  }

  /** Whether the service makes a token for this conference of ours. */
  async #serves(account: VideoIdentificationAccount, idConference: string): Promise<boolean> {
    const minting = video.genAPIToken(account, idConference, this.#ending.signal);
    return !((await this.#counted("genAPIToken", minting)) instanceof ProviderError);
  }

  /** Finds what the token opens; `busy`: the account is not asked for a while. */
  async #ask(
    account: VideoIdentificationAccount,
    asked: string,
    token: string,
  ): Promise<{ idConference: string } | Refusal | "busy"> {
    const of = { idConference: asked, token: new Secret(token) };
    const reading = video.conferenceData(account, of, this.#ending.signal);
    const answer = await this.#counted("conferenceData", reading);
    if (answer instanceof ProviderError) {
      const { kind, status, retryAfterMs = this.#times.retryMs } = answer;
      if (kind === "rateLimited" || status === undefined) {
        this.#restsUntil.set(account.name, performance.now() + retryAfterMs);
        return "busy";
      }
      if (kind === "notVisibleYet") return "invisible";
      return kind === "unavailable" ? "unavailable" : "refused";
    }
    const { idConference } = answer;
    // Data that do not name their conference prove nothing.
    return idConference === undefined ? "refused" : { idConference };
  }

  async #counted<T>(operation: Counted, calling: Promise<T>): Promise<T | ProviderError> {
    try {
      const answer = await calling;
      this.#deps.onCall?.(operation, "ok");
      return answer;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#deps.onCall?.(operation, error.kind);
      return error;
    }
  }

  #opened({ name }: VideoIdentificationAccount, sealed: string): string | undefined {
    try {
      return this.#deps.secrets.open(sealed, keyOfAccount(provider, name));
    } catch (error) {
      if (isUndecryptable(error)) return undefined;
      throw error;
    }
  }

  #report(error: unknown): void {
    if (this.#ending.signal.aborted) return;
    const { code, name } = error as { code?: unknown; name?: unknown };
    this.#deps.warn("Tokens of call-closing events cannot be tried", { code: code ?? name });
  }
}

/** The provider has answered, and shows no data. */
type Refusal = "refused" | "invisible" | "unavailable";

/** The activities may have found the account refused or the provider away. */
function isOpen(circuits: Circuits, { name }: VideoIdentificationAccount): boolean {
  const operation = "conferenceData/unaddressed";
  const target = { account: `${provider}/${name}`, operation, intent: "unaddressed tokens" };
  return circuits.openError(target) !== undefined;
}

/** Those that the claims name come first. Nobody believes the claims: they save calls. The others in any order, so that all have a turn. */
function inOrder(references: string[], claims: ReadonlySet<string>): string[] {
  return references
    .map((reference) => ({ reference, place: claims.has(reference) ? -1 : Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ reference }) => reference);
}
