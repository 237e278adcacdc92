// Nothing that travels shows in an error: not the URL, the headers, the body, the secrets or the provider's words.
import { inspect } from "node:util";
import { expect, test } from "@jest/globals";
import { Secret } from "../../../src/contracts/values.js";
import { parseCallback } from "../../../src/providers/evi-post/callback.js";
import * as client from "../../../src/providers/evi-post/client.js";
import type { EviPostAccount, PostalSubmission } from "../../../src/providers/evi-post/client.js";
import type { ProviderError } from "../../../src/providers/errors.js";
import { refusingUrl, startProviderServer } from "../provider-server.js";
import type { Handler } from "../provider-server.js";
import { accountAt, errorOf } from "./account.js";

const CANARY = "canary bird, Calle Mayor 1";
const ENCODED = [
  CANARY,
  encodeURIComponent(CANARY),
  "canary",
  Buffer.from(CANARY).toString("base64"),
];

const submission: PostalSubmission = {
  document: Buffer.from(`%PDF-1.4 ${CANARY}`),
  recipientAddress: { streetAddress: CANARY, postalCode: CANARY, locality: CANARY, country: "ES" },
  recipientName: CANARY,
  options: { evidenceAccessControlChallengeResponse: new Secret(CANARY) },
};
const answer = JSON.stringify({
  responseStatus: {
    errorCode: CANARY,
    message: CANARY,
    errors: [{ errorCode: CANARY, fieldName: CANARY, message: CANARY, other: CANARY }],
    stackTrace: CANARY,
  },
  results: [{ evidenceId: 1, recipientName: CANARY }],
});
const headers = { "x-canary": "canary", "set-cookie": "canary=1", location: "/canary" };

const operations: Record<string, (account: EviPostAccount) => Promise<unknown>> = {
  submit: (account) => client.submit(account, submission, "canary-token"),
  query: (account) => client.query(account, { lookupKeys: [CANARY.replace(",", "")] }),
  requestAffidavit: (account) => client.requestAffidavit(account, { uniqueId: CANARY }),
  cancel: (account) => client.cancel(account, { uniqueId: CANARY }),
  downloadAffidavits: (account) => client.downloadAffidavits(account, [CANARY]),
};
const statuses = [200, 204, 302, 400, 401, 403, 404, 405, 408, 409, 413, 429, 500, 503];
const breaks: Record<string, Handler> = {
  "cut before the answer": (_, response) => void response.destroy(),
  "cut in the answer": (_, response) => {
    response.writeHead(200, { ...headers, "content-length": "999" });
    response.write(CANARY, () => setTimeout(() => response.destroy(), 20));
  },
  "no answer": () => undefined,
  ...Object.fromEntries(
    statuses.map((status) => [
      `status ${status}`,
      ((_, response) => void response.writeHead(status, headers).end(answer)) satisfies Handler,
    ]),
  ),
  "a page of HTML": (_, response) =>
    void response.writeHead(502, headers).end(`<html>${CANARY}</html>`),
};

test.each(Object.keys(operations))("%s leaks nothing", async (operation) => {
  const perform = operations[operation]!;
  for (const [name, handler] of Object.entries(breaks)) {
    const server = await startProviderServer(handler);
    const account = accountAt(`${server.url}/canary`, {
      timeoutMs: 400,
      username: "canary",
      password: new Secret(CANARY),
    });
    const error = await errorOf(perform(account));
    await server.close();
    expect({ name, shown: shown(error) }).toEqual({ name, shown: [] });
  }
  const account = accountAt(`${await refusingUrl()}/canary`, { password: new Secret(CANARY) });
  expect(shown(await errorOf(perform(account)))).toEqual([]);
});

test("a callback that cannot be read leaks nothing", async () => {
  const bodies = [
    CANARY,
    [CANARY],
    { Identifier: CANARY, Kind: CANARY, Date: CANARY, [CANARY]: 1 },
  ];
  for (const body of bodies) {
    const error = await errorOf(Promise.resolve().then(() => parseCallback(body)));
    expect(shown(error)).toEqual([]);
  }
});

test("the provider's words are there for whoever asks for them by name", async () => {
  const server = await startProviderServer(
    (_, response) => void response.writeHead(400).end(answer),
  );
  const error = await errorOf(client.submit(accountAt(server.url), submission, "token"));
  await server.close();
  expect(error.detail).toBe(CANARY);
  expect(error.fields[0]?.message).toBe(CANARY);
  expect(error.cause).toBeUndefined();
});

/** Where the canary can be seen. */
function shown(error: ProviderError): string[] {
  const views = {
    inspect: inspect(error, { depth: 20, getters: true }),
    json: JSON.stringify(error),
    message: error.message,
    stack: String(error.stack).replaceAll(/\(?(file:)?\/.*$/gm, ""),
    string: String(error),
    clone: inspect(structuredClone(Object.fromEntries(Object.entries(error))), { depth: 20 }),
  };
  return Object.entries(views)
    .filter(([, text]) => ENCODED.some((canary) => text.includes(canary)))
    .map(([view]) => view);
}
