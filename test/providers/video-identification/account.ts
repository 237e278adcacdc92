// The account that the tests of the video identification client use, and one call of each operation.
import { buffer } from "node:stream/consumers";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/video-identification/client.js";
import type { VideoIdentificationAccount } from "../../../src/providers/video-identification/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { defaultAccount } from "../default-account.js";
import { inMemory } from "../memory-keep.js";

/** Of no call: `{ "alg": "none" }`, `{ "conf": "c1" }`. */
export const jwt = "eyJhbGciOiJub25lIn0.eyJjb25mIjoiYzEifQ.c2lnbmF0dXJl";
export const apiKey = "an-api-key";

/** Where the answers say all that they may say, as those of the sandbox do. */
export const pointers = {
  conference: "/idConference",
  state: "/state",
  verdict: "/verdict",
  asyncState: "/status",
};

export function accountAt(
  baseUrl: string,
  changes: Partial<VideoIdentificationAccount> = {},
): VideoIdentificationAccount {
  return {
    ...defaultAccount("video-identification", { baseUrl, apiKey }),
    ...changes,
  };
}

type Call = (account: VideoIdentificationAccount, given?: Given) => Promise<unknown>;
interface Given {
  idConference?: string;
  token?: string;
  /** Of the caller's own. */
  fields?: Record<string, string>;
}

const of = ({ idConference = "c1", token = jwt }: Given = {}) => ({
  idConference,
  token: new Secret(token),
});

export const calls: Record<Operation<"video-identification">, Call> = {
  genAPIToken: (account, given) => client.genAPIToken(account, of(given).idConference),
  rejectCall: (account, given) =>
    client.rejectCall(account, {
      idConference: of(given).idConference,
      ...(given?.fields && { fields: given.fields }),
    }),
  getAsyncRequestInfo: (account, given) =>
    client.getAsyncRequestInfo(account, {
      idConference: of(given).idConference,
      ...(given?.fields && { parameters: given.fields }),
    }),
  registerAlertEmail: (account, { idConference: processId = "p1" } = {}) =>
    client.registerAlertEmail(account, { processId, emails: ["ops@example.com"] }),
  conferenceData: (account, given) => client.conferenceData(account, of(given)),
  getAuditData: async (account, given) => {
    const { file, mediaType } = await client.getAuditData(account, of(given), inMemory);
    return { bytes: await buffer(file.pieces()), mediaType };
  },
  deleteAuditData: (account, given) =>
    client.deleteAuditData(account, { ...of(given), isRepetition: false }),
};

/** The operations whose credential is the token of a call (P1 §5.2). */
export const withToken: readonly string[] = ["conferenceData", "getAuditData", "deleteAuditData"];
