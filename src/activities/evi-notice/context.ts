// The activities of certified notices work with an account, and with the queries of docs/reading-the-specification.md §1, §3.
import * as eviNotice from "../../providers/evi-notice/client.js";
import type { Cursor, Notice } from "../../providers/evi-notice/client.js";
import { whenVisible } from "../runtime/polling.js";
import { ownKeyOf, withOwnKey } from "../evi/submit.js";
import { ProviderContext } from "../runtime/provider-context.js";

export const provider = "evi-notice";

/** A query by our own key finds one notice. */
const MAX_PAGES = 5;

export class EviNoticeContext extends ProviderContext<typeof provider> {
  findNotice(id: string): Promise<Notice | undefined> {
    return whenVisible(this.ask("get", eviNotice.get, { id, includeAffidavits: true }));
  }

  /**
   * `key`: our own, or the whole lookup key of which ours is the last part. A query may find a notice by one part or by the whole
   * alone (not shown), so it asks for both.
   */
  async noticeByOwnKey(key: string): Promise<{ uniqueId: string; lookupKey?: string } | undefined> {
    const ownKey = ownKeyOf(key);
    const notice = withOwnKey(this, ownKey, await this.#query([...new Set([ownKey, key])]));
    return notice && { ...notice, uniqueId: notice.id };
  }

  /** All pages. A provider may send a cursor with its last page too: two empty pages in a row end it (P2 §4.2 shows no end). */
  async #query(lookupKeys: string[]): Promise<{ results: Notice[]; hasMore: boolean }> {
    const results: Notice[] = [];
    let cursor: Cursor | undefined;
    let isEmpty = false;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const asked = { lookupKeys, ...(cursor !== undefined && { cursor }) };
      const page = await this.ask("query", eviNotice.query, asked);
      results.push(...page.results);
      const wasEmpty = isEmpty;
      isEmpty = page.results.length === 0;
      if (page.cursor === undefined || (isEmpty && wasEmpty)) return { results, hasMore: false };
      cursor = page.cursor;
    }
    return { results, hasMore: true };
  }
}
