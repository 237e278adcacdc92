// A canary in everything that travels, every way a call can break, and where the canary can then be seen in the error.
import { inspect } from "node:util";
import { ProviderError } from "../../../src/providers/errors/provider-error.js";
import { refusingUrl, startProviderServer } from "../provider-server.js";
import type { Handler } from "../provider-server.js";

export const CANARY = "canary bird, Calle Mayor 1";
const ENCODED = [
  CANARY,
  encodeURIComponent(CANARY),
  "canary",
  Buffer.from(CANARY).toString("base64"),
];

const headers = { "x-canary": "canary", "set-cookie": "canary=1", location: "/canary" };
const statuses = [200, 204, 302, 400, 401, 403, 404, 405, 408, 409, 413, 429, 500, 503];
const breaks = (body: string): Record<string, Handler> => ({
  "cut before the answer": (_, response) => void response.destroy(),
  "cut in the answer": (_, response) => {
    response.writeHead(200, { ...headers, "content-length": "999" });
    response.write(CANARY, () => setTimeout(() => response.destroy(), 20));
  },
  "no answer": () => undefined,
  ...Object.fromEntries(
    statuses.map((status) => [
      `status ${status}`,
      ((_, response) => void response.writeHead(status, headers).end(body)) satisfies Handler,
    ]),
  ),
  "a page of HTML": (_, response) =>
    void response.writeHead(502, headers).end(`<html>${CANARY}</html>`),
});

/**
 * The errors that `perform` ends with at a server that breaks in every way, each with where the canary shows. Most of it is waiting for the
 * one that never answers, so the tests of several calls run side by side.
 */
export async function brokenCalls(
  body: string,
  perform: (baseUrl: string) => Promise<unknown>,
): Promise<{ name: string; error: ProviderError; shown: string[] }[]> {
  const broken: Awaited<ReturnType<typeof brokenCalls>> = [];
  const attempt = async (name: string, baseUrl: string) => {
    const error: unknown = await perform(baseUrl).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) return;
    if (!(error instanceof ProviderError)) throw new Error(name, { cause: error });
    broken.push({ name, error, shown: shown(error) });
  };
  let handler: Handler = () => undefined;
  const server = await startProviderServer((...args) => handler(...args));
  for (const [name, breaking] of Object.entries(breaks(body))) {
    handler = breaking;
    await attempt(name, `${server.url}/canary`);
  }
  await server.close();
  await attempt("refused", `${await refusingUrl()}/canary`);
  return broken;
}

/** Where the canary can be seen. */
export function shown(error: ProviderError): string[] {
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
