// The video identification service as it travels (P1 §2.7, §4.2, §5.2, §6.1). Paths, credentials and two requests are shown; no
// answer is, nor the fields of conference, audit and asynchronous request: what is read of them is assumed.
import { z } from "zod";
import { isSameSpelling } from "../../contracts/shared/values.js";
import { ErrorCode, Word } from "../errors/outside.js";
import { isPdf } from "../http/described.js";

/** P1 §4.2. */
export const routes = {
  genAPIToken: { method: "GET", path: "/api/authenticate/genAPIToken" },
  rejectCall: { method: "PATCH", path: "/api/v2/rejectCall" },
  getAsyncRequestInfo: { method: "GET", path: "/api/v2/getAsyncRequestInfo" },
  registerAlertEmail: { method: "POST", path: "/api/v2/registerAlertEmail" },
  conferenceData: { method: "GET", path: "/api/v2/conferenceData" },
  getAuditData: { method: "GET", path: "/api/v2/getAuditData" },
  deleteAuditData: { method: "DELETE", path: "/api/v2/deleteAuditData" },
} as const;

/** P1 §5.2: the header of the key. The token of a call is `Authorization: Bearer <JWT>`. */
export const API_KEY_HEADER = "apikey";

/** P1 §2.7, §4.2: the query parameter of `genAPIToken`. */
export const CONFERENCE = "idConference";

const MAX_TOKEN_CHARACTERS = 8_000;

/** P1 §5.2: a JWT, signed or encrypted. */
export const CallToken = z
  .string()
  .max(MAX_TOKEN_CHARACTERS)
  .regex(/^[\w-]+(\.[\w-]*){2}((\.[\w-]*){2})?$/, "is no JWT");

/** P1 §4.2: not shown; the token as a JSON text, or as a member. */
export const TokenAnswer = z.union([
  CallToken.transform((token) => ({ token })),
  z.looseObject({ token: CallToken }),
]);

/** P1 §2.7: the members of conference and asynchronous request are not shown. */
export const AnyObject = z.looseObject({});

/** P1 §6.1: "payload parameter `message.token`", whose nesting is not shown. */
const CloseEvent = z.object({
  message: z.object({ token: CallToken }).optional().catch(undefined),
  "message.token": CallToken.optional().catch(undefined),
  token: CallToken.optional().catch(undefined),
});

/** The token that a close event carries: nested, flat by its whole name, or flat by its last one. */
export function tokenOf(event: unknown): string | undefined {
  const { data } = CloseEvent.safeParse(event);
  return data?.message?.token ?? data?.["message.token"] ?? data?.token;
}

const MAX_CLAIMS = 100;

/** Texts and numbers among the first claims, as texts. They are not verified, so they say no more than which call to try first. */
export function claimsOf(token: string): ReadonlySet<string> {
  const [, payload = ""] = token.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const texts = Object.values(claims as object).map(String);
    return new Set(texts.filter((text) => !text.includes("\0")).slice(0, MAX_CLAIMS));
  } catch {
    return new Set();
  }
}

/** P1 §7.3: not shown. */
export const ErrorAnswer = z.object({
  code: ErrorCode,
  message: z.string().optional().catch(undefined),
});

/** A word of the provider, under our name where it is one of `words`; undefined for what is no word. */
export function wordOf(
  text: string | undefined,
  words: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const word = Word.safeParse(text).data;
  if (word === undefined) return undefined;
  const known = Object.entries(words).find(([, names]) =>
    names.some((one) => isSameSpelling(one, word)),
  );
  return known?.[0] ?? word;
}

/** Reads the media type from the first bytes (P1 §2.7 does not show it): a header may say another one for the same bytes. */
export function auditMediaType(start: Buffer): string {
  if (isPdf(start)) return "application/pdf";
  if (start.subarray(0, 4).equals(Buffer.from("PK\u0003\u0004"))) return "application/zip";
  const isJson = /^\ufeff?\s*[[{]/.test(start.toString("utf8", 0, 200));
  return isJson ? "application/json" : "application/octet-stream";
}
