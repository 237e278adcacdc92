// A caller of the simulated notice API, and how it brings notices and batches into the state that a fixture names.
import { sandboxControl } from "../../../src/control/client.js";
import type { Sandbox } from "../../../src/sandbox.js";
import { fill, type Values } from "../../../../../test/harness/fixtures/fixtures.js";
import { basic, HOUR } from "../../caller.js";
import { exchange, type Answered, type SentRequest } from "../../exchange.js";

export const notices = "/v2/EviNotice";
export const smallest = {
  Subject: "Your contract",
  Body: "<p>Read it.</p>",
  RecipientAddress: "ana@example.com",
};

export interface Sender {
  send(request: SentRequest): Promise<Answered>;
  /** Submits and returns the id; throws for what is refused. */
  submit(body?: Record<string, unknown>): Promise<string>;
  get(id: string, query?: Record<string, string>): Promise<any>;
  /** Brings what `given.notice` and `given.batch` say into being, and learns the ids. */
  bring(given: Record<string, any>, values: Values): Promise<void>;
}

export function sender(sandbox: Sandbox, username = "sandbox", password = username): Sender {
  const control = sandboxControl(sandbox.url);

  async function send({ headers, ...request }: SentRequest): Promise<Answered> {
    const type = request.body === undefined ? {} : { "content-type": "application/json" };
    const all = { authorization: basic(username, password), ...type, ...headers };
    return exchange(sandbox, { ...request, headers: all });
  }

  async function good(request: SentRequest): Promise<any> {
    const answer = await send(request);
    if (answer.status >= 300) throw new Error(`${request.path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  const post = (path: string, body: unknown) => good({ method: "POST", path, body });

  async function submit(body: Record<string, unknown> = smallest): Promise<string> {
    return (await post(`${notices}/Submit`, body)).Id;
  }

  async function bringNotice(item: any, values: Values): Promise<void> {
    const id = await submit(fill(item.submission, values));
    values["noticeId"] = id;
    for (let count = 0; count < (item.onDemandRequests ?? 0); count += 1)
      await post(`${notices}/Affidavits/Request`, { Id: id });
    if (item.state !== undefined)
      await control.move(id, { state: item.state, ...(item.outcome && { outcome: item.outcome }) });
    for (let count = 1; count <= (item.affidavits ?? 0); count += 1)
      values[`affidavit${count}`] = (await control.publishAffidavit(id)).id;
  }

  async function bringBatch(batch: any, values: Values): Promise<void> {
    const { description: Description, attachments = [] } = batch;
    const { BatchId } = await post(`${notices}/Batches`, { Description });
    if (batch.twice) await post(`${notices}/Batches`, { Description });
    values["batchId"] = BatchId;
    const path = `${notices}/Batches/${BatchId}`;
    const patch = (body: unknown) => good({ method: "PATCH", path, body });
    const raw = (method: "PUT" | "POST", part: string, type: string, text: string) =>
      good({ method, path: `${path}/${part}`, headers: { "content-type": type }, text });
    if (batch.settings) await patch(batch.settings);
    if (batch.body) await raw("PUT", "Body", "text/html", batch.body);
    if (!batch.bodyQueued) await sandbox.clock.advance(5000);
    if (batch.recipients) await raw("POST", "Recipients", "text/csv", batch.recipients);
    for (const { fileName, mimeType, content } of fill(attachments, values)) {
      const form = [
        { name: "Content", fileName, content },
        { name: "MimeType", value: mimeType },
      ];
      const added = await good({ method: "POST", path: `${path}/Attachments`, form });
      values["attachmentId"] = added.AttachmentId;
    }
    if (batch.start) await patch(batch.start);
    if (batch.until) await sandbox.clock.advance(HOUR);
  }

  return {
    send,
    submit,
    get: async (id, query = {}) =>
      (await send({ method: "GET", path: `${notices}/${id}`, query })).body,
    async bring({ notice, noticeCount = notice ? 1 : 0, batch, cursorOf }, values) {
      for (let count = 0; count < noticeCount; count += 1) await bringNotice(notice, values);
      if (batch) await bringBatch(batch, values);
      const first = cursorOf ?? batch?.cursorOf;
      if (first) values["cursor"] = (await good(fill(first, values))).Cursor;
    },
  };
}
