// The configured accounts as each provider's client takes them.
import { createHash } from "node:crypto";
import type { CertificateAccount } from "./activities/disposable-certificate/index.js";
import type { PostalAccount } from "./activities/evi-post/index.js";
import type { OneShotAccount } from "./activities/one-shot-signature/index.js";
import { ringOf } from "./config.js";
import type { Config } from "./config.js";
import { canonicalJson } from "./crypto/json-digest.js";
import { LookUpProofs } from "./journal/look-up-proofs.js";
import type { Pool } from "./postgres/pool.js";
import { ClientCertificate } from "./providers/http/client-certificate.js";
import type { EnvelopeSignatureAccount } from "./providers/envelope-signature/client.js";
import type { MessagingGatewayAccount } from "./providers/messaging-gateway/client.js";

type Configured = Required<Config["accounts"][string]>;
export type ProviderName = keyof Configured;
export type AccountOf<P extends ProviderName> = ReturnType<(typeof accounts)[P]>;

/** Hears that an account goes on with its certificate of before, as the files hold none that can be used. */
export type OnKeptCertificate = (about: {
  provider: ProviderName;
  account: string;
  code: string | undefined;
}) => void;

/** By account name, for those that have the provider. */
export function accountsOf<P extends ProviderName>(
  config: Config,
  provider: P,
  onKept: OnKeptCertificate = () => undefined,
): Record<string, AccountOf<P>> {
  const make = accounts[provider] as (name: string, given: unknown, kept: Kept) => never;
  const found = Object.entries(config.accounts).flatMap(([name, providers]) => {
    const given = providers[provider];
    const kept: Kept = (code) => onKept({ provider, account: name, code });
    return given ? [[name, make(name, given, kept)] as const] : [];
  });
  return Object.fromEntries(found);
}

/** What is known of the accounts' look-ups. */
export function lookUpProofsOf(config: Config, pool: Pool): LookUpProofs {
  return new LookUpProofs(pool, ringOf(config, "journal"), {
    spacingMs: config.journal.lookUpSpacingSeconds * 1_000,
    invisibleMs: config.attention.invisibleSeconds * 1_000,
  });
}

type Kept = (code: string | undefined) => void;

const accounts = {
  "evi-post": postalAccount,
  "disposable-certificate": certificateAccount,
  "messaging-gateway": messagingAccount,
  "one-shot-signature": oneShotAccount,
  "envelope-signature": envelopeAccount,
};

/** Of no secret: what an account's look-ups are worth is remembered under it. */
function digestOf(configuration: object): string {
  return createHash("sha256").update(canonicalJson(configuration)).digest("hex");
}

function postalAccount(name: string, account: NonNullable<Configured["evi-post"]>): PostalAccount {
  const {
    affidavits,
    affidavitMethod,
    affidavitPath,
    affidavitIdsParameter,
    timeoutSeconds,
    ...rest
  } = account;
  const { baseUrl, username, ownKeyInLookupKey } = rest;
  return {
    ...rest,
    name,
    timeoutMs: timeoutSeconds * 1_000,
    lookUpConfiguration: digestOf({ baseUrl, username, ownKeyInLookupKey }),
    affidavits:
      affidavits === "blobs"
        ? { mode: "blobs" }
        : {
            mode: "download",
            method: affidavitMethod,
            path: affidavitPath,
            idsParameter: affidavitIdsParameter,
          },
  };
}

function certificateAccount(
  name: string,
  account: NonNullable<Configured["disposable-certificate"]>,
  kept: Kept,
): CertificateAccount {
  const { baseUrl, username, password, lraId, emailOtp, wrongOtpCodes, ...more } = account;
  const { validation, members, timeoutSeconds, ...files } = more;
  return {
    name,
    baseUrl,
    username,
    password,
    lraId,
    emailOtp,
    wrongOtpCodes,
    validation,
    members,
    timeoutMs: timeoutSeconds * 1_000,
    tls: new ClientCertificate(files, kept),
  };
}

function oneShotAccount(
  name: string,
  { timeoutSeconds, paths, ...rest }: NonNullable<Configured["one-shot-signature"]>,
): OneShotAccount {
  const { retrieve, ...others } = paths;
  return {
    ...rest,
    name,
    lookUpConfiguration: digestOf({ baseUrl: rest.baseUrl, retrieve }),
    timeoutMs: timeoutSeconds * 1_000,
    paths: retrieve === "none" ? others : paths,
  };
}

function envelopeAccount(
  name: string,
  account: NonNullable<Configured["envelope-signature"]>,
  kept: Kept,
): EnvelopeSignatureAccount {
  const { caBaseUrl, esignBaseUrl, apiToken, vendor, timeoutSeconds, ...more } = account;
  const { filePart, members, ...files } = more;
  const timeoutMs = timeoutSeconds * 1_000;
  return {
    name,
    ca: { baseUrl: caBaseUrl, timeoutMs, tls: new ClientCertificate(files, kept) },
    esign: { baseUrl: esignBaseUrl, timeoutMs },
    apiToken,
    vendor,
    filePart,
    members: { EnvelopeId: members.envelopeId },
  };
}

function messagingAccount(
  name: string,
  { timeoutSeconds, ...rest }: NonNullable<Configured["messaging-gateway"]>,
): MessagingGatewayAccount {
  return { ...rest, name, timeoutMs: timeoutSeconds * 1_000 };
}
