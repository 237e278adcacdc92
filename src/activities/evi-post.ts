// The activities of certified post: build the key, call the provider through the journal, translate the error
// (P2 §2.1–2.5, §4.1; READING §1–2).
import { activityInfo, cancellationSignal } from "@temporalio/activity";
import type { ProblemKind } from "../contracts/failures.js";
import type { AffidavitAnswer, CancelAnswer } from "../contracts/messages.js";
import { withoutSecrets } from "../contracts/secrets.js";
import { PostalDates, SendPostalInput } from "../contracts/send-postal.js";
import type { PostalAffidavitRequest, PostalSettings } from "../contracts/send-postal.js";
import type { ProcessDocument } from "../contracts/status.js";
import type { DocumentReference } from "../contracts/values.js";
import type { DocumentStore } from "../documents/store.js";
import type { Journal } from "../journal/journal.js";
import { ProviderError } from "../providers/errors.js";
import * as eviPost from "../providers/evi-post/client.js";
import type { EviPostAccount } from "../providers/evi-post/client.js";
import type { Circuits } from "./circuit.js";
import { execution, performEffect, tokenOf } from "./effect.js";
import type { Digests, EffectReference } from "./effect.js";
import { fetchAffidavits } from "./evi-post-affidavits.js";
import { affidavitRefused, cancelRefused, standing } from "./evi-post-answers.js";
import { submissionOf } from "./evi-post-submission.js";
import { asActivity, InvalidInput, LongUnavailable, NothingNew } from "./failure.js";
import type { AttemptMode, FailureContext } from "./failure.js";
import { parseInput, readPdf, referenceOf } from "./input.js";

const provider = "evi-post";

/** An account with what the configuration knows about it beside the way to reach it. */
export interface PostalAccount extends EviPostAccount {
  /** Whether the provider's site has an address with a region, which fills the issuer's (P2 §2.2). */
  siteHasRegion: boolean;
  /** Puts our own key into `LookupKey` too, where the query finds no `CustomFields` value. */
  ownKeyInLookupKey: boolean;
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

export interface PostalSubmitted {
  uniqueId: string;
  environment: string;
  account: string;
  settings: PostalSettings;
  postServiceType: string;
  affidavitsOnDemand: boolean;
  document: DocumentReference;
  submittedAt: string;
}

export interface PostalQuestion {
  account: string;
  uniqueId: string;
  submittedAt: string;
  wait: "now" | "change" | "end";
  mode: AttemptMode;
  /** The fingerprint of the newest snapshot. */
  seen: string | undefined;
  /** Provider ids of affidavits that are stored; left out of the download unless `refetch`. */
  stored: string[];
  refetch: boolean;
}

export interface PostalAnswer {
  snapshot: {
    stamp: string;
    state: string;
    outcome?: string;
    dates: PostalDates;
    fingerprint: string;
  };
  documents: ProcessDocument[];
}

interface OwnCall {
  effect: EffectReference;
  account: string;
  uniqueId: string;
}

const endStates = new Set(["Closed", "Cancelled", "Disposed"]);

/** How often an ask that a callback caused is repeated while the query lags behind it. */
const claimAttempts = 6;

export function createEviPostActivities(dependencies: EviPostDependencies) {
  const { accounts, journal, digests, documents, circuits, environment } = dependencies;

  const contextOf = (operation: string, account: string, mode: AttemptMode): FailureContext => ({
    provider,
    operation,
    environment,
    account,
    mode,
    patienceMs: dependencies.patienceMs,
  });

  function accountNamed(name: string): PostalAccount {
    const account = accounts[name];
    if (account) return account;
    throw new InvalidInput([
      { path: "account", problem: `no account "${name}" is configured for ${provider}` },
    ]);
  }

  /** Through the account's circuit; a denial of one operation does not open it (READING §9). */
  function reach<T>(account: EviPostAccount, call: () => Promise<T>): Promise<T> {
    return circuits.run(`${provider}/${account.name}`, call);
  }

  async function findItem(account: EviPostAccount, uniqueId: string) {
    const { results } = await reach(account, () =>
      eviPost.query(
        account,
        { uniqueIds: [uniqueId], includeAffidavits: true },
        cancellationSignal(),
      ),
    );
    return results.find(({ evidenceId }) => evidenceId === uniqueId);
  }

  /** READING §1: our own key may stand among several in `lookupKey`, joined with `::`. */
  async function findByOwnKey(account: EviPostAccount, key: string) {
    const { results } = await reach(account, () =>
      eviPost.query(account, { lookupKeys: [key] }, cancellationSignal()),
    );
    const found = results.find(({ lookupKey = "" }) => lookupKey.split("::").includes(key));
    return found && { uniqueId: found.evidenceId };
  }

  return {
    /** The first activity: validates, stores an inline document, submits once (P2 §4.1 Submit). */
    async submit({
      effect,
      mode,
      input: raw,
    }: {
      effect: EffectReference;
      mode: AttemptMode;
      input: unknown;
    }): Promise<PostalSubmitted> {
      const named = (raw as { account?: unknown } | undefined)?.account;
      const name = typeof named === "string" ? named : "default";
      return asActivity(contextOf("submit", name, mode), async () => {
        const input = parseInput(SendPostalInput, raw);
        const account = accountNamed(name);
        checkAccountRules(input, account);
        const token = tokenOf(effect);
        const document = await referenceOf(
          documents,
          input.document,
          tokenOf({ ...effect, occurrence: "0" }),
        );
        const callback = dependencies.callback({ provider, ...execution() });
        const { uniqueId } = await performEffect(
          journal,
          digests,
          {
            reference: effect,
            provider,
            operation: "submit",
            account: name,
            input: withoutSecrets(SendPostalInput, input),
            mode,
          },
          {
            send: async ({ idempotencyToken, deadline }) => {
              const pdf = await readPdf(documents, document, "document");
              const submission = submissionOf(input, pdf, token, callback, account);
              const signal = AbortSignal.any([
                cancellationSignal(),
                AbortSignal.timeout(Math.max(1, deadline.getTime() - Date.now())),
              ]);
              return reach(account, () =>
                eviPost.submit(account, submission, idempotencyToken, signal),
              );
            },
            lookUp: () => findByOwnKey(account, token),
          },
        );
        return {
          uniqueId,
          environment,
          account: name,
          settings: resolved(dependencies.settings, input.settings),
          postServiceType: input.options?.postServiceType ?? "Registered",
          affidavitsOnDemand: input.options?.affidavitsOnDemandEnabled === true,
          document,
          submittedAt: (await journal.now()).toISOString(),
        };
      });
    },

    /** One question and what it shows; fetches affidavits that are not stored yet (P2 §2.5, §4.1 Query). */
    async ask(question: PostalQuestion): Promise<PostalAnswer> {
      const { uniqueId, mode, wait, seen } = question;
      return asActivity(contextOf("query", question.account, mode), async () => {
        const account = accountNamed(question.account);
        const stamp = (await journal.now()).toISOString();
        const item = await findItem(account, uniqueId).catch((error: unknown) => {
          throw longAway(error, account.name);
        });
        if (!item) throw invisible(question);
        const { state, outcome, affidavits = [] } = item;
        const fingerprint = [
          state,
          outcome,
          ...affidavits.map((affidavit) => affidavit.uniqueId).toSorted(),
        ].join(" ");
        const patient = mode === "quick" ? wait : "now";
        const answers =
          patient === "now" ||
          (patient === "change" && fingerprint !== seen) ||
          (patient === "end" && (endStates.has(state) || activityInfo().attempt >= claimAttempts));
        if (!answers) throw new NothingNew();
        const wanted = affidavits.filter(
          (affidavit) => question.refetch || !question.stored.includes(affidavit.uniqueId),
        );
        const fetched = await fetchAffidavits({ account, documents, uniqueId, wanted, reach });
        const dates = PostalDates.strip().parse(item);
        return {
          snapshot: {
            stamp,
            state,
            dates,
            fingerprint,
            ...(outcome === undefined ? {} : { outcome }),
          },
          documents: fetched,
        };
      });
    },

    /** P2 §4.1 Cancel, answered as READING §2 says. */
    async cancel({ effect, account: name, uniqueId }: OwnCall): Promise<CancelAnswer> {
      return asActivity(contextOf("cancel", name, "quick"), async () => {
        const account = accountNamed(name);
        const input = { uniqueId };
        const lookUp = async (): Promise<CancelAnswer | undefined> => {
          const item = await findItem(account, uniqueId);
          return item && standing(item.state);
        };
        try {
          return await performEffect(
            journal,
            digests,
            {
              reference: effect,
              provider,
              operation: "cancel",
              account: name,
              input,
              mode: "quick",
            },
            {
              send: async () => {
                await eviPost.cancel(account, { uniqueId }, cancellationSignal());
                return { answer: "cancelled" };
              },
              lookUp,
            },
          );
        } catch (error) {
          return cancelRefused(error, lookUp);
        }
      });
    },

    /** P2 §4.1 AffidavitRequest: no token and nobody to ask, so a lost answer is `unknown`. */
    async requestAffidavit({
      effect,
      account: name,
      uniqueId,
      asked,
    }: OwnCall & { asked: PostalAffidavitRequest }): Promise<AffidavitAnswer> {
      return asActivity(contextOf("requestAffidavit", name, "quick"), async () => {
        const account = accountNamed(name);
        const input = { uniqueId, ...asked };
        try {
          const { requestId } = await performEffect(
            journal,
            digests,
            {
              reference: effect,
              provider,
              operation: "requestAffidavit",
              account: name,
              input,
              mode: "quick",
            },
            { send: () => eviPost.requestAffidavit(account, input, cancellationSignal()) },
          );
          return { answer: "requested", requestId };
        } catch (error) {
          return affidavitRefused(error);
        }
      });
    },
  };

  /** A provider that has been away for long is a person's matter; until then the retry carries on. */
  function longAway(error: unknown, account: string): unknown {
    const since = circuits.failingSince(`${provider}/${account}`);
    const long = since !== undefined && Date.now() - since > dependencies.unavailableForMs;
    if (!(error instanceof ProviderError) || error.kind !== "unavailable" || !long) return error;
    return new LongUnavailable(error);
  }

  function invisible({ submittedAt }: PostalQuestion): ProviderError {
    const still = Date.now() - Date.parse(submittedAt) < dependencies.invisibleForMs;
    const kind: ProblemKind = still ? "notVisibleYet" : "protocol";
    return new ProviderError({
      kind,
      provider,
      operation: "query",
      effect: "none",
      problem: "the communication is not in the answer",
    });
  }
}

/** The caller's spans over the configured ones, fixed for the run. */
function resolved(
  configured: PostalSettings,
  given: SendPostalInput["settings"] = {},
): PostalSettings {
  const entries = Object.entries(given).filter(([, seconds]) => seconds !== undefined);
  return { ...configured, ...Object.fromEntries(entries) };
}

/** The rule of P2 §2.2 that needs the account's configuration. */
function checkAccountRules(input: SendPostalInput, account: PostalAccount): void {
  const registered = (input.options?.postServiceType ?? "Registered") === "Registered";
  if (registered && input.issuerAddress?.region === undefined && !account.siteHasRegion) {
    throw new InvalidInput([
      {
        path: "issuerAddress.region",
        problem: "is required for Registered: the site of this account has no region (P2 §2.2)",
      },
    ]);
  }
}

export type EviPostActivities = ReturnType<typeof createEviPostActivities>;
