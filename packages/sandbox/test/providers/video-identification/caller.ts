// A bare caller of the simulated video service, which can bring a conference to where a test begins.
import type { Sandbox } from "../../../src/sandbox.js";
import { MINUTE } from "../../caller.js";
import { exchange, type Answered, type SentRequest } from "../../exchange.js";

/** What exists before a test: see test/fixtures/video-identification/README.md. */
export interface GivenConference {
  words?: string[];
  until?: "closed" | "rejected" | "done" | "audit" | "deleted";
}

const API = "/api/v2";
let conferences = 0;

export function videoCaller(sandbox: Sandbox, username = "sandbox") {
  const key = { apikey: `${username}-api-key` };
  const of = (idConference: string) => ({ query: { idConference } });

  const byKey = (
    method: SentRequest["method"],
    path: string,
    more: Pick<SentRequest, "body" | "query"> = {},
  ): Promise<Answered> => exchange(sandbox, { method, path, headers: key, ...more });

  const byToken = (
    method: SentRequest["method"],
    operation: string,
    token: string,
    more: Pick<SentRequest, "query"> = {},
  ): Promise<Answered> => {
    const headers = { authorization: `Bearer ${token}` };
    return exchange(sandbox, { method, path: `${API}/${operation}`, headers, ...more });
  };

  const mint = (id: string): Promise<Answered> =>
    byKey("GET", "/api/authenticate/genAPIToken", of(id));
  const reject = (id: string, body: unknown = {}): Promise<Answered> =>
    byKey("PATCH", `${API}/rejectCall`, { ...of(id), body });
  const info = (id: string): Promise<Answered> =>
    byKey("GET", `${API}/getAsyncRequestInfo`, of(id));
  const register = (processId: string, email: string): Promise<Answered> =>
    byKey("POST", `${API}/registerAlertEmail`, { body: { processId, email } });

  async function tokenOf(id: string): Promise<string> {
    const { status, body } = await mint(id);
    if (status !== 200) throw new Error(`${id}: ${status} ${JSON.stringify(body)}`);
    return body.token;
  }
  const data = async (id: string) => byToken("GET", "conferenceData", await tokenOf(id));
  const audit = async (id: string) => byToken("GET", "getAuditData", await tokenOf(id));
  const deletion = async (id: string) => byToken("DELETE", "deleteAuditData", await tokenOf(id));

  /** The id of a conference that has come so far; no two tests have the same. */
  async function bring({ words = [], until }: GivenConference = {}): Promise<string> {
    conferences += 1;
    const id = [`conference-${conferences}`, ...words].join("~");
    if (words.includes("unknown")) return id;
    await tokenOf(id);
    if (until === "rejected") await reject(id);
    if (until === "closed") await sandbox.clock.advance(5 * MINUTE);
    if (until === "audit" || until === "deleted") await sandbox.clock.advance(6 * MINUTE);
    if (until === "done") await sandbox.clock.advance(10 * MINUTE);
    if (until === "deleted") await deletion(id);
    await sandbox.clock.advance(0);
    return id;
  }

  return { byKey, byToken, mint, reject, info, register, tokenOf, data, audit, deletion, bring };
}
