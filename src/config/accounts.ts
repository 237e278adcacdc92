// The accounts: by name, for each provider where it is reached and as whom. What the specification leaves open is marked
// as assumed.
import { z } from "zod";
import { AccountName, isSameSpelling } from "../contracts/shared/values.js";
import {
  accountSecret,
  baseUrl,
  flag,
  list,
  numbers,
  path,
  plain,
  renewedSecret,
  segment,
  text,
  tlsBaseUrl,
  username,
  whole,
} from "./fields.js";

/** Below `journal.leaseSeconds`, so that a lease outlives its call. */
const timeoutSeconds = whole(1).default(30);

/** A client certificate: PEM files, or PKCS#12 (P1 §5.1, §5.5); read again when the files change. */
const clientCertificate = {
  certificateFile: text().optional(),
  keyFile: text().optional(),
  pkcs12File: text().optional(),
  passphrase: renewedSecret().optional(),
  /** The authorities that the provider's own certificate is checked by; default: the public ones. */
  caFile: text().optional(),
};

interface CertificateFiles {
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  pkcs12File?: string | undefined;
}

/** Either the pair or the one file. */
function needsCertificate(account: CertificateFiles, context: z.RefinementCtx): void {
  const { certificateFile, keyFile, pkcs12File } = account;
  const parts = [certificateFile, keyFile].filter((file) => file !== undefined).length;
  if (parts === (pkcs12File === undefined ? 2 : 0)) return;
  context.addIssue({
    code: "custom",
    path: ["certificateFile"],
    message:
      "give certificateFile and keyFile (PEM), or pkcs12File: the service wants a client certificate",
  });
}

const EviPostAccount = z.strictObject({
  baseUrl: baseUrl(),
  username: username(),
  password: accountSecret(),
  timeoutSeconds,
  /** Whether the site's address has a region, which fills the issuer's (P2 §2.2). */
  siteHasRegion: flag().default(true),
  /** Assumed: our own key goes into `LookupKey` too (docs/reading-the-specification.md §1). */
  ownKeyInLookupKey: flag().default(false),
  /** Assumed: the shared affidavit download (P2 §4.1); `blobs` reads the deprecated field instead. */
  affidavits: z.preprocess(plain, z.enum(["download", "blobs"])).default("download"),
  affidavitMethod: z.preprocess(plain, z.enum(["GET", "POST"])).default("GET"),
  affidavitPath: path().default("/v1/Affidavits/Download"),
  affidavitIdsParameter: text().default("AffidavitIds"),
});

const DisposableCertificateAccount = z
  .strictObject({
    /** By TLS alone, as there is no client certificate without it. */
    baseUrl: tlsBaseUrl(),
    username: username(),
    password: accountSecret(),
    /** The Local Registration Authority: a segment of the path (P1 §4.1). */
    lraId: segment(),
    timeoutSeconds,
    ...clientCertificate,
    /** Whether EMAIL codes are enabled for the LRA (P1 §2.1). */
    emailOtp: flag().default(false),
    /** Assumed: the codes of a `validate` error that mean "wrong code" (P1 §7.1 names none). */
    wrongOtpCodes: numbers().default([]),
    /** Assumed: by which name each member of `validate` is sent (P1 §2.4). */
    validation: z
      .strictObject({
        certIdOtp: text().default("certIdOtp"),
        deviceCode: text().default("deviceCode"),
        otp: text().default("otp"),
      })
      .prefault({}),
    /** Assumed: the names that the OTP identifier may have (P1 §2.5). */
    members: z.strictObject({ otpId: names("otpId") }).prefault({}),
  })
  .superRefine(needsCertificate);

const MessagingGatewayAccount = z.strictObject({
  baseUrl: baseUrl(),
  username: username(),
  password: accountSecret(),
  apiKey: accountSecret(),
  timeoutSeconds,
});

/** The names that a member or a word may have. */
function names(...known: string[]) {
  return list().default(known);
}

/** One name cannot stand for two members, or for two words. */
function refuseNameOfTwo(given: Record<string, string[]>, context: z.RefinementCtx): void {
  const all = Object.entries(given);
  for (const [index, [own, spellings]] of all.entries())
    for (const [other, taken] of all.slice(0, index)) {
      const twice = spellings.find((one) => taken.some((name) => isSameSpelling(one, name)));
      if (twice === undefined) continue;
      const message = `"${twice}" stands for ${other} already`;
      context.addIssue({ code: "custom", path: [own], message });
    }
}

const oneShot = "/oneshot/api/v1";
const video = `${oneShot}/identity-video/{request_pk}`;
const requestPath = (allowed = /^\/.*\{request_pk\}/) =>
  z.preprocess(
    plain,
    z.string().regex(allowed, "must begin with a slash and have a place for {request_pk}"),
  );

/** What a relay takes that has no such account: it needs nothing else of one. */
export const webhookPointer = "/request_pk";

const OneShotSignatureAccount = z.strictObject({
  baseUrl: baseUrl(),
  /** Of the registration-authority operator (P1 §5.4). */
  token: accountSecret(),
  /** Assumed: how it travels; the prefix stands right before it, with its space. */
  tokenHeader: z
    .preprocess(plain, z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, "must be the name of a header"))
    .default("Authorization"),
  tokenPrefix: z.preprocess(plain, z.string()).default("Token "),
  timeoutSeconds,
  /** Assumed: the codes of a refused signature that mean "wrong code" and "the code has expired" (P1 §7.3 names none). */
  wrongOtpCodes: list().default(["otp_wrong"]),
  expiredOtpCodes: list().default(["otp_expired"]),
  /** Assumed: where a webhook's body has the request's id, as a JSON pointer (P1 §6.2). */
  webhookPointer: path("as a JSON pointer does").default(webhookPointer),
  /** Assumed: the paths that P1 §4.4 does not show. */
  paths: z
    .strictObject({
      createToken: path().default(`${oneShot}/tokens`),
      uploadDocument: requestPath().default(`${oneShot}/document/{request_pk}`),
      uploadHash: requestPath().default(`${oneShot}/hash/{request_pk}`),
      /** `none`: there is none, so nobody can be asked about uploads, nor about the end of a signature. */
      retrieve: requestPath(/^none$|^\/.*\{request_pk\}/).default(
        `${oneShot}/document/{request_pk}`,
      ),
      deleteDocuments: requestPath().default(`${oneShot}/document/{request_pk}`),
      createVideo: requestPath().default(video),
      uploadEvidences: requestPath().default(`${video}/evidences`),
      uploadVideo: requestPath().default(`${video}/video`),
      approveVideo: requestPath().default(`${video}/approve`),
      cancelVideo: requestPath().default(`${video}/cancel`),
      getVideo: requestPath().default(video),
      updateVideo: requestPath().default(video),
    })
    .prefault({}),
  /** Assumed: the members of answers, each by the names that it may have, in the order in which they count (P1 §2.9, §4.4). */
  members: z
    .strictObject({
      token: names("token"),
      state: names("state", "status"),
      documents: names("documents"),
      name: names("name"),
      sha256: names("sha256"),
      signed: names("signed"),
      signedSha256: names("signedSha256"),
    })
    .prefault({})
    .superRefine(refuseNameOfTwo),
  /** Assumed: the words of `state`, each by the names that it may have. */
  words: z
    .strictObject({
      signed: names("signed"),
      signing: names("signing"),
      failed: names("failed"),
      cancelled: names("cancelled", "canceled"),
      approved: names("approved"),
    })
    .prefault({})
    .superRefine(refuseNameOfTwo),
  /** Assumed: by which name something is sent; `file` is the part of an upload that carries the file. */
  sent: z
    .strictObject({
      file: text().default("file"),
      otp: text().default("otp"),
      name: text().default("name"),
      algorithm: text().default("algorithm"),
      hash: text().default("hash"),
    })
    .prefault({}),
  /** Assumed: what stands for the algorithm of a hash. */
  hashAlgorithm: text().default("SHA-256"),
});

const EnvelopeSignatureAccount = z
  .strictObject({
    /** The certificate-authority host, which wants the client certificate (P1 §4.5, §5.5). */
    caBaseUrl: tlsBaseUrl(),
    ...clientCertificate,
    /** The envelope host, which wants the API token. */
    esignBaseUrl: baseUrl(),
    apiToken: accountSecret(),
    /** The VENDOR in `GenericSigningPlugin<VENDOR>OneShot` (P1 §2.10). */
    vendor: z.preprocess(plain, z.string().regex(/^[\w.-]+$/, "must be a name, without spaces")),
    timeoutSeconds,
    /** Assumed: the part of an upload that carries the file (P1 §4.5). */
    filePart: text().default("File"),
    /** Assumed: the names that the envelope's id may have in the answer of its send (P1 §4.5). */
    members: z.strictObject({ envelopeId: names("EnvelopeId") }).prefault({}),
  })
  .superRefine(needsCertificate);

export const Accounts = z
  .record(
    AccountName,
    z.strictObject({
      "evi-post": EviPostAccount.optional(),
      "disposable-certificate": DisposableCertificateAccount.optional(),
      "messaging-gateway": MessagingGatewayAccount.optional(),
      "one-shot-signature": OneShotSignatureAccount.optional(),
      "envelope-signature": EnvelopeSignatureAccount.optional(),
    }),
  )
  .prefault({});
