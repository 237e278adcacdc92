// An account of the video identification service: its keys in the configuration, and the account as the client takes it
// (P1 §4.2, §5.2).
import { z } from "zod";
import {
  names,
  refuseNameOfTwo,
  sentAs,
  spellings,
  timeoutSeconds,
} from "../../config/account-fields.js";
import { accountSecret, baseUrl, matching, path, section } from "../../config/fields.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

/** A relay that has no such account takes this one: it needs nothing else of the account. */
export const defaultCloseEventPointer = "/idConference";

const NONE = "none";
const pointer = () => matching(/^(none$|\/)/, 'must begin with a slash, or be "none"');

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  apiKey: accountSecret().describe("secret; header `apikey` (P1 §5.2)"),
  timeoutSeconds,
  conferenceParameter: sentAs(
    "idConference",
    "the query parameter by which a call with a token names its conference (P1 §4.2); `none`: it has none, the token says it alone",
  ),
  closeEventPointer: path("as a JSON pointer does")
    .default(defaultCloseEventPointer)
    .describe(
      "assumed: the JSON pointer to the conference's id in a call-closing event (P1 §6.1). Relay",
    ),
  /** Assumed: where the answers have what decides, each as a JSON pointer; `none`: no answer says it (P1 §2.7). */
  pointers: section({
    conference: pointer()
      .default("/idConference")
      .describe(
        "assumed, as all `pointers`: P1 §2.7 shows no field. The JSON pointer to the conference's id in its data; `none`: they do not say it",
      ),
    state: pointer()
      .default(NONE)
      .describe(
        "assumed; to the state of the call in the conference's data; `none`: they do not say it",
      ),
    verdict: pointer()
      .default(NONE)
      .describe(
        "assumed; to the result of the identification in the conference's data; `none`: they do not say it",
      ),
    asyncState: pointer()
      .default(NONE)
      .describe("assumed; to the state in the information on an asynchronous request"),
  }),
  /** Assumed: the words that stand there, each by the names that it may have. */
  words: section({
    closed: spellings("closed"),
    rejected: spellings("rejected"),
    open: spellings("open"),
    verified: spellings("verified"),
    notVerified: spellings("notVerified"),
    asyncDone: names("done").describe("list; assumed; of an asynchronous request"),
  }).superRefine(refuseNameOfTwo),
  members: section({
    token: names("token", "jwt").describe(
      "list; assumed: the names of the member of `genAPIToken` that carries the token (P1 §4.2)",
    ),
  }),
});

export function accountOf(given: z.infer<typeof keys>, { name }: AccountSettings) {
  const { timeoutSeconds: seconds, conferenceParameter, pointers, ...rest } = given;
  const shown = (value: string) => (value === NONE ? undefined : value);
  return {
    ...rest,
    name,
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
