// The activities of the one-shot signature service work with an account, and with what `retrieve` shows of a request.
import * as oneShot from "../../providers/one-shot-signature/client.js";
import { ProviderContext } from "../runtime/provider-context.js";

export const provider = "one-shot-signature";

/** A signature request, as every call after its creation names it. */
export interface OneShotRequest {
  account: string;
  requestPk: string;
}

type RetrievedRequest = Awaited<ReturnType<typeof oneShot.retrieve>>;

export class OneShotContext extends ProviderContext<typeof provider> {
  retrieve(requestPk: string): Promise<RetrievedRequest> {
    return this.ask("retrieve", oneShot.retrieve, requestPk);
  }

  /** A look-up by `retrieve`, where the account has a path for it (docs/reading-the-specification.md §0). */
  lookUp<R>(
    requestPk: string,
    find: (request: RetrievedRequest) => R | undefined,
  ): { lookUp?: () => Promise<R | undefined> } {
    if (this.account.paths.retrieve === undefined) return {};
    return { lookUp: async () => find(await this.retrieve(requestPk)) };
  }
}
