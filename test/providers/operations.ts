// Each operation of each provider with one call of it: what all of them have in common is tested for all.
import { effectClassOf, providers } from "../../src/providers/registry.js";
import type { EffectClass } from "../../src/providers/effect-classes.js";
import type { Operation, Provider } from "../../src/providers/registry.js";
import * as wallet from "./credential-wallet/account.js";
import * as certificate from "./disposable-certificate/account.js";
import * as envelope from "./envelope-signature/account.js";
import * as notice from "./evi-notice/account.js";
import * as post from "./evi-post/account.js";
import * as gateway from "./messaging-gateway/account.js";
import * as oneShot from "./one-shot-signature/account.js";
import * as video from "./video-identification/account.js";

const callAt: { [P in Provider]: (operation: Operation<P>, url: string) => Promise<unknown> } = {
  "evi-post": (operation, url) => post.calls[operation](post.accountAt(url)),
  "evi-notice": (operation, url) => notice.calls[operation](notice.accountAt(url)),
  "disposable-certificate": (operation, url) =>
    certificate.calls[operation](certificate.accountAt(url)),
  "messaging-gateway": (operation, url) => gateway.calls[operation](gateway.accountAt(url)),
  "one-shot-signature": (operation, url) => oneShot.calls[operation](oneShot.accountAt(url), "r-1"),
  "envelope-signature": (operation, url) => envelope.calls[operation](envelope.accountAt(url)),
  "credential-wallet": (operation, url) => wallet.calls[operation](wallet.accountAt(url)),
  "video-identification": (operation, url) => video.calls[operation](video.accountAt(url)),
};

export interface Called {
  /** Provider and operation. */
  name: string;
  provider: Provider;
  operation: string;
  effectClass: EffectClass;
  call(url: string): Promise<unknown>;
}

export const operations: Called[] = Object.entries(providers).flatMap(([name, { effects }]) =>
  Object.keys(effects).map((operation) => {
    const provider = name as Provider;
    const at = callAt[provider] as (operation: string, url: string) => Promise<unknown>;
    return {
      name: `${provider} ${operation}`,
      provider,
      operation,
      effectClass: effectClassOf(provider, operation as never),
      call: (url) => at(operation, url),
    };
  }),
);
