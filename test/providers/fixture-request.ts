// Where a request that a client sent differs from the one that a fixture shows.
import { matches } from "../harness/fixtures/fixtures.js";
import type { Values } from "../harness/fixtures/fixtures.js";
import { filesOf } from "./provider-server.js";
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
  { body, form }: any,
  received: Received,
  values: Values,
): Promise<string[]> {
  if (form !== undefined) {
    const files = (await filesOf(received)).map(({ part, name, content }) => ({
      name: part,
      fileName: name,
      content: content.toString("base64"),
    }));
    return matches(form, files, { values });
  }
  const sent = received.text === "" ? undefined : JSON.parse(received.text);
  return body === undefined && sent === undefined ? [] : matches(body, sent, { values });
}
