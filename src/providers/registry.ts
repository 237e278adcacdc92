// Every provider, with one line each. The configuration, the worker, the relay, the doctor and the sandbox's accounts take what
// they need of a provider from here. Nothing here loads a client: an entry imports it when it is first used.
import type { z } from "zod";
import { credentialWallet } from "./credential-wallet/index.js";
import { disposableCertificate } from "./disposable-certificate/index.js";
import type { EffectClass, EffectClasses } from "./effect-classes.js";
import { envelopeSignature } from "./envelope-signature/index.js";
import { eviNotice } from "./evi-notice/index.js";
import { eviPost } from "./evi-post/index.js";
import { messagingGateway } from "./messaging-gateway/index.js";
import { oneShotSignature } from "./one-shot-signature/index.js";
import type { ProviderEntry } from "./provider-entry.js";
import { videoIdentification } from "./video-identification/index.js";

export const providers = {
  "evi-post": eviPost,
  "evi-notice": eviNotice,
  "disposable-certificate": disposableCertificate,
  "messaging-gateway": messagingGateway,
  "one-shot-signature": oneShotSignature,
  "envelope-signature": envelopeSignature,
  "credential-wallet": credentialWallet,
  "video-identification": videoIdentification,
} as const;

type Providers = typeof providers;
export type Provider = keyof Providers;
export type Operation<P extends Provider> = keyof Providers[P]["effects"] & string;
export type AccountKeys<P extends Provider> = z.infer<Providers[P]["keys"]>;
type Accounts = { [P in Provider]: ReturnType<Providers[P]["accountOf"]> };
/** An account as the provider's client takes it. */
export type AccountOf<P extends Provider> = Accounts[P];

export const providerNames = Object.keys(providers) as Provider[];

/** It takes accounts of its own provider only, which this type does not say. */
export function entryOf(provider: Provider): ProviderEntry<z.ZodType, object, EffectClasses> {
  return providers[provider] as unknown as ProviderEntry<z.ZodType, object, EffectClasses>;
}

/** Providers that are told one callback address for each account (docs/reading-the-specification.md §6). */
export const accountCallbackProviders = providerNames.filter(
  (name) => entryOf(name).callback?.addressOf === "account",
);

export function effectClassOf<P extends Provider>(
  provider: P,
  operation: Operation<P>,
): EffectClass {
  return entryOf(provider).effects[operation] as EffectClass;
}
