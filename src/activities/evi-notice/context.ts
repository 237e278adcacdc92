// What the activities of certified notices work with: the account, and the queries of docs/reading-the-specification.md §1, §3.
import type { NoticeSettings } from "../../contracts/send-notice.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import type { EviNoticeAccount, Notice } from "../../providers/evi-notice/client.js";
import { whenVisible } from "../evi/affidavits.js";
import { withOwnKey } from "../evi/submit.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { AttemptOf, ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "evi-notice";

/** An account with what the configuration knows about it beside address and credentials. */
export interface NoticeAccount extends EviNoticeAccount {
  /** Digest of the configuration that decides which items a look-up finds. */
  lookUpConfiguration: string;
}

export interface EviNoticeDependencies extends ProviderDependencies<NoticeAccount> {
  settings: NoticeSettings;
}

export class EviNoticeContext extends ProviderContext<
  typeof provider,
  NoticeAccount,
  EviNoticeDependencies
> {
  constructor(deps: EviNoticeDependencies, attempt: AttemptOf) {
    super(provider, deps, attempt);
  }

  findNotice(id: string): Promise<Notice | undefined> {
    const getting = this.throughCircuit("get", (signal) =>
      eviNotice.get(this.account, { id, includeAffidavits: true }, signal),
    );
    return whenVisible<Notice | undefined>(getting, undefined);
  }

  async noticeByOwnKey(key: string): Promise<{ uniqueId: string; lookupKey?: string } | undefined> {
    const { results, cursor } = await this.throughCircuit("query", (signal) =>
      eviNotice.query(this.account, { lookupKeys: [key] }, signal),
    );
    const notice = withOwnKey(this, key, { results, hasMore: cursor !== undefined });
    return notice && { ...notice, uniqueId: notice.id };
  }
}
