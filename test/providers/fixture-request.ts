// Where a request that a client sent differs from the one that a fixture shows.
import { matches } from "../harness/fixtures/fixtures.js";
import type { Values } from "../harness/fixtures/fixtures.js";
import type { Received } from "./provider-server.js";

export async function requestDifferences(
  expected: any,
  received: Received,
  values: Values,
): Promise<string[]> {
  const { method, path, query = {}, headers = {} } = expected;
  return [
    ...matches({ method, path }, received, { values, extra: true }),
    ...matches(query, received.query, { values }),
    ...matches(headers, received.headers, { values, extra: true }),
    ...(await bodyDifferences(expected, received, values)),
  ];
}

async function bodyDifferences(
  { body, text, form }: any,
  received: Received,
  values: Values,
): Promise<string[]> {
  if (form !== undefined) return matches(form, await partsOf(received), { values });
  if (text !== undefined) return matches(text, received.text, { values });
  const sent = received.text === "" ? undefined : JSON.parse(received.text);
  return body === undefined && sent === undefined ? [] : matches(body, sent, { values });
}

/** A file with its name and its content in base64, any other field with its value. */
async function partsOf({ headers, bytes }: Received): Promise<object[]> {
  const type = headers["content-type"] ?? "";
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const parts = [...form].map(async ([name, part]) => {
    if (typeof part === "string") return { name, value: part };
    const content = Buffer.from(await part.arrayBuffer()).toString("base64");
    return { name, fileName: part.name, content };
  });
  return Promise.all(parts);
}
