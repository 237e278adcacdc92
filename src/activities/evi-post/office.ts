// What the activities of certified post share: the accounts, the way to the provider through its circuit, and the
// questions of READING §1–2.
import { cancellationSignal } from "@temporalio/activity";
import type { PostalSettings } from "../../contracts/send-postal.js";
import type { DocumentStore } from "../../documents/store.js";
import type { Journal } from "../../journal/journal.js";
import type { Operation } from "../../providers/effects.js";
import { ProviderError } from "../../providers/errors.js";
import * as client from "../../providers/evi-post/client.js";
import type { EviPostAccount, PostalItem } from "../../providers/evi-post/client.js";
import { countCall, measured } from "../calls.js";
import { NotAsked } from "../circuit.js";
import type { Circuits, Way } from "../circuit.js";
import type { Digests } from "../effect.js";
import { asActivity, InvalidInput, LongUnavailable } from "../failure.js";
import type { AttemptMode } from "../failure.js";

export const provider = "evi-post";

export const eviPost = measured(provider, client);

/** An account with what the configuration knows about it beside the way to reach it. */
export interface PostalAccount extends EviPostAccount {
  /** Whether the provider's site has an address with a region, which fills the issuer's (P2 §2.2). */
  siteHasRegion: boolean;
  /** Puts our own key into `LookupKey` too, where the query finds no `CustomFields` value. */
  ownKeyInLookupKey: boolean;
}

/** The account as one attempt uses it: a person's retry does not wait for the circuit. */
export interface AttemptAccount extends PostalAccount {
  urgent: boolean;
}

export interface EviPostDependencies {
  environment: string;
  accounts: Record<string, PostalAccount>;
  settings: PostalSettings;
  journal: Journal;
  digests: Digests;
  documents: DocumentStore;
  circuits: Circuits;
  /** The process's own callback address and the value that its callbacks echo (DESIGN §7). */
  callback(process: { provider: string; namespace: string; workflowId: string }): {
    url: string;
    correlation: string;
  };
  patienceMs: number;
  /** How long an id that was just given may stay invisible before that is a `protocol` problem. */
  invisibleForMs: number;
  /** How long a provider may be away before a question raises attention. */
  unavailableForMs: number;
}

export class PostOffice {
  readonly has: EviPostDependencies;

  constructor(dependencies: EviPostDependencies) {
    this.has = dependencies;
  }

  /** Runs an activity's body; what it throws becomes the failure that the workflow reads. */
  run<T>(
    operation: string,
    account: string,
    mode: AttemptMode,
    body: (account: AttemptAccount) => Promise<T>,
  ): Promise<T> {
    const { environment, patienceMs } = this.has;
    const context = { provider, operation, environment, account, mode, patienceMs };
    const urgent = mode === "probe";
    return asActivity(context, async () => {
      try {
        return await body({ ...this.#accountNamed(account), urgent });
      } catch (error) {
        const met = error instanceof LongUnavailable ? error.cause : error;
        if (met instanceof NotAsked) countCall(provider, operation, "notAsked");
        throw error;
      }
    });
  }

  /** Through the account's circuit; the calls of updates do not go through it, so no denial of theirs opens it. */
  reach<T>(
    account: AttemptAccount,
    operation: Operation<"evi-post">,
    call: () => Promise<T>,
  ): Promise<T> {
    return this.has.circuits.run(wayOf(account, operation), call);
  }

  async findItem(account: AttemptAccount, uniqueId: string): Promise<PostalItem | undefined> {
    const asked = { uniqueIds: [uniqueId], includeAffidavits: true };
    const { results } = await this.reach(account, "query", () =>
      eviPost.query(account, asked, cancellationSignal()),
    );
    return results.find(({ evidenceId }) => evidenceId === uniqueId);
  }

  /** Why `reach` would fail fast now, if so. */
  closed(account: AttemptAccount, operation: Operation<"evi-post">): Error | undefined {
    return this.has.circuits.closed(wayOf(account, operation));
  }

  /** READING §1: our own key may stand among several in `lookupKey`, joined with `::`. */
  async findByOwnKey(account: AttemptAccount, key: string) {
    const { results, totalMatches } = await this.reach(account, "query", () =>
      eviPost.query(account, { lookupKeys: [key] }, cancellationSignal()),
    );
    const found = results.find(({ lookupKey = "" }) => lookupKey.split("::").includes(key));
    if (found) return { uniqueId: found.evidenceId };
    if (totalMatches <= results.length) return undefined;
    // More than one page for a key that is unique: the query does not filter as assumed, so it proves no absence.
    throw new ProviderError({
      kind: "protocol",
      provider,
      operation: "query",
      effect: "none",
      problem: "a query by our own key has more matches than it shows",
    });
  }

  /** A provider that has been away for long is a person's matter; until then the retry carries on. */
  longAway(error: unknown, account: AttemptAccount): unknown {
    const since = this.has.circuits.failingSince(wayOf(account, "query").account);
    const isLong = since !== undefined && Date.now() - since > this.has.unavailableForMs;
    const isAway = error instanceof ProviderError && error.kind === "unavailable";
    return isAway && isLong ? new LongUnavailable(error) : error;
  }

  #accountNamed(name: string): PostalAccount {
    const account = Object.hasOwn(this.has.accounts, name) ? this.has.accounts[name] : undefined;
    if (account) return account;
    const problem = `no account "${name}" is configured for ${provider}`;
    throw new InvalidInput([{ path: "account", problem }]);
  }
}

function wayOf({ name, urgent }: AttemptAccount, operation: Operation<"evi-post">): Way {
  return { account: `${provider}/${name}`, operation, urgent };
}
