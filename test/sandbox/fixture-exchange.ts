// One exchange of a fixture over real HTTP or mutual TLS: sends the filled request, and says where the answer differs.
import { got, type HttpsOptions } from "got";
import { matches, type Values } from "../support/fixtures.js";

export interface FixtureRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
  /** Parts of a multipart body; the content in base64. */
  form?: { name: string; fileName: string; content: string }[];
}

export interface FixtureReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  /** Undefined where it is no JSON. */
  body: any;
}

export async function exchange(
  url: string,
  { method, path, headers, body, text, form }: FixtureRequest,
  https?: HttpsOptions,
): Promise<FixtureReply> {
  const sent = form
    ? multipart(form)
    : (text ?? (body === undefined ? body : JSON.stringify(body)));
  const response = await got(`${url}${path}`, {
    method,
    ...(headers && { headers }),
    ...(sent !== undefined && { body: sent }),
    ...(https && { https }),
    responseType: "buffer",
    retry: { limit: 0 },
    throwHttpErrors: false,
  });
  const bytes = Buffer.from(response.body);
  const isJson = response.headers["content-type"]?.startsWith("application/json");
  return {
    status: response.statusCode,
    headers: response.headers,
    bytes,
    body: isJson ? JSON.parse(bytes.toString()) : undefined,
  };
}

export function differences(reply: FixtureReply, expected: any, values: Values): string[] {
  const { status, headers = {}, body, bytes } = expected;
  const found = status === reply.status ? [] : [`status ${reply.status}, not ${status}`];
  found.push(...matches(headers, reply.headers, { values, extra: true }));
  if (bytes !== undefined) found.push(...matches(bytes, reply.bytes, { values }));
  else if (body !== undefined) found.push(...matches(body, reply.body, { values }));
  else if (reply.bytes.length > 0) found.push(`a body of ${reply.bytes.length} bytes`);
  return found;
}

function multipart(parts: NonNullable<FixtureRequest["form"]>): FormData {
  const form = new FormData();
  for (const { name, fileName, content } of parts)
    form.append(name, new Blob([Buffer.from(content, "base64")]), fileName);
  return form;
}
