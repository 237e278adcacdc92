// What the activities of certified post share beside every provider's: the questions of docs/reading-the-specification.md §1–2.
import { cancellationSignal } from "@temporalio/activity";
import type { PostalSettings } from "../../contracts/send-postal.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import * as client from "../../providers/evi-post/client.js";
import type { EviPostAccount, PostalItem } from "../../providers/evi-post/client.js";
import { measured } from "../runtime/call-metrics.js";
import { Office } from "../runtime/provider-context.js";
import type { Attempting, OfficeDependencies } from "../runtime/provider-context.js";

export const provider = "evi-post";

export const eviPost = measured(provider, client);

/** An account with what the configuration knows about it beside the way to reach it. */
export interface PostalAccount extends EviPostAccount {
  /** Whether the provider's site has an address with a region, which fills the issuer's (P2 §2.2). */
  siteHasRegion: boolean;
  /** Puts our own key into `LookupKey` too, where the query finds no `CustomFields` value. */
  ownKeyInLookupKey: boolean;
  /** Digest of what decides which items a look-up finds. */
  lookUpConfiguration: string;
}

export type AttemptAccount = Attempting<PostalAccount>;

export interface EviPostDependencies extends OfficeDependencies<PostalAccount> {
  settings: PostalSettings;
}

export class PostOffice extends Office<typeof provider, PostalAccount, EviPostDependencies> {
  constructor(dependencies: EviPostDependencies) {
    super(provider, dependencies);
  }

  async findItem(account: AttemptAccount, uniqueId: string): Promise<PostalItem | undefined> {
    const asked = { uniqueIds: [uniqueId], includeAffidavits: true };
    const { results } = await this.reach(account, "query", () =>
      eviPost.query(account, asked, cancellationSignal()),
    );
    return results.find(({ evidenceId }) => evidenceId === uniqueId);
  }

  /** docs/reading-the-specification.md §1: our own key may stand among several in `lookupKey`, joined with `::`. */
  async itemByOwnKey(account: AttemptAccount, key: string): Promise<PostalItem | undefined> {
    const { results, totalMatches } = await this.reach(account, "query", () =>
      eviPost.query(account, { lookupKeys: [key] }, cancellationSignal()),
    );
    const found = results.find(({ lookupKey = "" }) => lookupKey.split("::").includes(key));
    if (found) return found;
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
}
