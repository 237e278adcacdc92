// What the activities of certified notices work with.
import type { EviNoticeAccount } from "../../providers/evi-notice/client.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { AttemptOf, ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "evi-notice";

export type EviNoticeDependencies = ProviderDependencies<EviNoticeAccount>;

export class EviNoticeContext extends ProviderContext<typeof provider, EviNoticeAccount> {
  constructor(deps: EviNoticeDependencies, attempt: AttemptOf) {
    super(provider, deps, attempt);
  }
}
