// An account of the video identification service: its keys in the configuration, and the account as the client takes it
// (P1 §4.2, §5.2).
import { z } from "zod";
import { names, refuseNameOfTwo, timeoutSeconds } from "../../config/account-fields.js";
import { accountSecret, baseUrl, path, plain, text } from "../../config/fields.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

/** A relay that has no such account takes this one: it needs nothing else of the account. */
export const defaultCloseEventPointer = "/idConference";

const NONE = "none";
const pointer = () =>
  z.preprocess(plain, z.string().regex(/^(none$|\/)/, 'must begin with a slash, or be "none"'));

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  /** P1 §5.2: the header `apikey`. */
  apiKey: accountSecret(),
  timeoutSeconds,
  /** Assumed: the query parameter of the calls with a token (P1 §4.2); `none`: they have none. */
  conferenceParameter: text().default("idConference"),
  /** Assumed: where the close event has the conference's id, as a JSON pointer (P1 §6.1). */
  closeEventPointer: path("as a JSON pointer does").default(defaultCloseEventPointer),
  /** Assumed: where the answers have what decides, each as a JSON pointer; `none`: no answer says it (P1 §2.7). */
  pointers: z
    .strictObject({
      conference: pointer().default("/idConference"),
      state: pointer().default(NONE),
      verdict: pointer().default(NONE),
      asyncState: pointer().default(NONE),
    })
    .prefault({}),
  /** Assumed: the words that stand there, each by the names that it may have. */
  words: z
    .strictObject({
      closed: names("closed"),
      rejected: names("rejected"),
      open: names("open"),
      verified: names("verified"),
      notVerified: names("notVerified"),
      asyncDone: names("done"),
    })
    .prefault({})
    .superRefine(refuseNameOfTwo),
  /** Assumed: the names of the member that carries a new token (P1 §4.2). */
  members: z.strictObject({ token: names("token", "jwt") }).prefault({}),
});

export function accountOf(given: z.infer<typeof keys>, { name }: AccountSettings) {
  const { timeoutSeconds: seconds, conferenceParameter, pointers, ...rest } = given;
  const { baseUrl: url, apiKey, words, members } = rest;
  const shown = (value: string) => (value === NONE ? undefined : value);
  return {
    name,
    baseUrl: url,
    apiKey,
    words,
    members,
    timeoutMs: seconds * 1_000,
    conferenceParameter: shown(conferenceParameter),
    pointers: {
      conference: shown(pointers.conference),
      state: shown(pointers.state),
      verdict: shown(pointers.verdict),
      asyncState: shown(pointers.asyncState),
    },
  };
}

export type VideoIdentificationAccount = ReturnType<typeof accountOf>;

/** The sandbox shows all that the service may show; an account in production expects none of it until it is configured. */
export function sandboxKeys({ url }: ServedSandbox) {
  return {
    baseUrl: url,
    apiKey: "sandbox-api-key",
    "pointers.state": "/state",
    "pointers.verdict": "/verdict",
    "pointers.asyncState": "/status",
  };
}
