// A bare caller of the simulated one-shot service, which can bring a request to where a test begins.
import { sandboxControl } from "../../../src/control/client.js";
import type { Sandbox } from "../../../src/sandbox.js";
import { samplePdf } from "../../../../../test/harness/fixtures/fixtures.js";
import { MINUTE } from "../../caller.js";
import { exchange, type Answered, type SentRequest } from "../../exchange.js";

/** What exists before a test: see test/fixtures/one-shot-signature/README.md. */
export interface GivenRequest {
  payload?: Record<string, unknown>;
  documents?: string[];
  hashes?: string[];
  video?: "created" | "evidences" | "video" | "approved" | "cancelled";
  otp?: "fresh" | "old" | "replaced" | "locked";
  state?: string;
  deleted?: boolean;
}

export const documentForm = (fileName: string, bytes = samplePdf) => [
  { name: "file", fileName, content: bytes.toString("base64") },
];

export function signer(sandbox: Sandbox, username = "sandbox") {
  const headers = { authorization: `Token ${username}-token` };
  const send = (
    method: SentRequest["method"],
    path: string,
    more: Pick<SentRequest, "body" | "form"> = {},
  ): Promise<Answered> =>
    exchange(sandbox, { method, path: `/oneshot/api/v1/${path}`, headers, ...more });

  async function sure(...given: Parameters<typeof send>): Promise<any> {
    const { status, body } = await send(...given);
    if (status >= 300) throw new Error(`${given[1]}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
  const create = async (payload: Record<string, unknown> = {}): Promise<string> =>
    (await sure("POST", "create", { body: payload })).request_pk;
  const upload = (id: string, name = "contract.pdf", bytes = samplePdf) =>
    sure("POST", `document/${id}`, { form: documentForm(name, bytes) });
  async function otp(id: string): Promise<string> {
    await sure("POST", `otp/${id}`, { body: {} });
    return sandbox.messages().at(-1)!.otp!;
  }
  const sign = (id: string, code: string) => send("POST", `sign/${id}`, { body: { otp: code } });

  async function film(id: string, until: GivenRequest["video"]): Promise<void> {
    const path = `identity-video/${id}`;
    await sure("POST", path, { body: {} });
    if (until === "created") return;
    await sure("POST", `${path}/evidences`, { form: documentForm("front.jpg") });
    if (until === "cancelled") await sure("POST", `${path}/cancel`, { body: {} });
    if (until === "evidences" || until === "cancelled") return;
    await sure("POST", `${path}/video`, { form: documentForm("identity.mp4") });
    if (until === "approved") await sure("POST", `${path}/approve`, { body: {} });
  }

  async function askForOtp(id: string, otpState: GivenRequest["otp"]): Promise<string> {
    const code = await otp(id);
    if (otpState === "old") await sandbox.clock.advance(10 * MINUTE);
    if (otpState === "replaced") await otp(id);
    if (otpState === "locked")
      for (let turn = 0; turn < 5; turn += 1) await sign(id, "no such code");
    return code;
  }

  async function bring(given: GivenRequest): Promise<{ id: string; otp?: string }> {
    const { documents = [], hashes = [], state } = given;
    const id = await create(given.payload);
    if (given.video) await film(id, given.video);
    for (const name of documents) await upload(id, name);
    for (const name of hashes) {
      const body = { name, algorithm: "SHA-256", hash: "ab".repeat(32) };
      await sure("POST", `hash/${id}`, { body });
    }
    const code = given.otp && (await askForOtp(id, given.otp));
    if (given.deleted) await sure("DELETE", `document/${id}`);
    if (state) await sandboxControl(sandbox.url).move(id, { state });
    return { id, ...(code !== undefined && { otp: code }) };
  }

  return { send, create, upload, otp, sign, film, bring };
}
