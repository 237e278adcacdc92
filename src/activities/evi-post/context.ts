// The activities of certified post work with an account, and with the queries of docs/reading-the-specification.md §1–2.
import * as eviPost from "../../providers/evi-post/client.js";
import type { PostalItem } from "../../providers/evi-post/client.js";
import { withOwnKey } from "../evi/submit.js";
import { ProviderContext } from "../runtime/provider-context.js";

export const provider = "evi-post";

export class EviPostContext extends ProviderContext<typeof provider> {
  async findItem(uniqueId: string): Promise<PostalItem | undefined> {
    const asked = { uniqueIds: [uniqueId], includeAffidavits: true };
    const { results } = await this.ask("query", eviPost.query, asked);
    // A UUID, which the provider may write in another case each time (P2 §2.5, §4.1).
    return results.find(({ evidenceId }) => evidenceId.toLowerCase() === uniqueId.toLowerCase());
  }

  async itemByOwnKey(key: string): Promise<{ uniqueId: string; lookupKey?: string } | undefined> {
    const { results, totalMatches } = await this.ask("query", eviPost.query, { lookupKeys: [key] });
    const hasMore = totalMatches > results.length;
    const item = withOwnKey(this, key, { results, hasMore });
    return item && { ...item, uniqueId: item.evidenceId };
  }
}
