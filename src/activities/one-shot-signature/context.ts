// What the activities of the one-shot signature service share: its accounts, a signature request, and what `retrieve` tells.
import { cancellationSignal } from "@temporalio/activity";
import type { OneShotSettings } from "../../contracts/sign-one-shot.js";
import * as client from "../../providers/one-shot-signature/client.js";
import type {
  OneShotDocument,
  OneShotSignatureAccount,
} from "../../providers/one-shot-signature/client.js";
import { measured } from "../runtime/call-metrics.js";
import { Office } from "../runtime/provider-context.js";
import type { Attempting, OfficeDependencies } from "../runtime/provider-context.js";

export const provider = "one-shot-signature";

export const oneShot = measured(provider, client);

export interface OneShotAccount extends OneShotSignatureAccount {
  /** Digest of what decides which documents `retrieve` shows. */
  lookUpConfiguration: string;
}

export interface OneShotDependencies extends OfficeDependencies<OneShotAccount> {
  settings: OneShotSettings;
}

export type OneShotAttempt = Attempting<OneShotAccount>;

/** A signature request, as every call after its creation names it. */
export interface OneShotRequest {
  account: string;
  requestPk: string;
}

export class SigningDesk extends Office<typeof provider, OneShotAccount, OneShotDependencies> {
  constructor(dependencies: OneShotDependencies) {
    super(provider, dependencies);
  }

  retrieve(
    account: OneShotAttempt,
    requestPk: string,
  ): Promise<{ state: string; documents: OneShotDocument[] }> {
    return this.reach(account, "retrieve", () =>
      oneShot.retrieve(account, requestPk, cancellationSignal()),
    );
  }

  /** A look-up by `retrieve`, where the account has a path for it (docs/reading-the-specification.md §0). */
  lookUp<R>(
    account: OneShotAttempt,
    requestPk: string,
    find: (request: { state: string; documents: OneShotDocument[] }) => R | undefined,
  ): { lookUp?: () => Promise<R | undefined> } {
    if (account.paths.retrieve === undefined) return {};
    return { lookUp: async () => find(await this.retrieve(account, requestPk)) };
  }
}
