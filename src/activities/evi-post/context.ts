// The activities of certified post work with an account, and with the queries of docs/reading-the-specification.md §1–2.
import type { PostalSettings } from "../../contracts/send-postal/contract.js";
import * as eviPost from "../../providers/evi-post/client.js";
import type { EviPostAccount, PostalItem } from "../../providers/evi-post/client.js";
import { withOwnKey } from "../evi/submit.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "evi-post";

/** An account with what the configuration knows about it beside address and credentials. */
export interface PostalAccount extends EviPostAccount {
  /** Whether the provider's site has an address with a region, which fills the issuer's (P2 §2.2). */
  siteHasRegion: boolean;
  /** Where the account is provisioned to deliver (P2 §1, §8). */
  destinationCountries: string[];
  /** Puts our own key into `LookupKey` too, where the query finds no `CustomFields` value. */
  ownKeyInLookupKey: boolean;
  /** Digest of the configuration that decides which items a look-up finds. */
  lookUpConfiguration: string;
}

export type EviPostDependencies = ProviderDependencies<PostalAccount> & {
  defaults: { sendPostal: PostalSettings };
};

export class EviPostContext extends ProviderContext<typeof provider, EviPostDependencies> {
  async findItem(uniqueId: string): Promise<PostalItem | undefined> {
    const asked = { uniqueIds: [uniqueId], includeAffidavits: true };
    const { results } = await this.throughCircuit("query", (signal) =>
      eviPost.query(this.account, asked, signal),
    );
    return results.find(({ evidenceId }) => evidenceId === uniqueId);
  }

  async itemByOwnKey(key: string): Promise<{ uniqueId: string; lookupKey?: string } | undefined> {
    const { results, totalMatches } = await this.throughCircuit("query", (signal) =>
      eviPost.query(this.account, { lookupKeys: [key] }, signal),
    );
    const hasMore = totalMatches > results.length;
    const item = withOwnKey(this, key, { results, hasMore });
    return item && { ...item, uniqueId: item.evidenceId };
  }
}
