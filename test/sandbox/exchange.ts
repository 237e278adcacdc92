// One exchange of a fixture with the sandbox, over plain HTTP or mutual TLS, and what differs from the fixture's answer.
import { got, type Method } from "got";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { fill, matches, type Fixture, type Values } from "../support/fixtures.js";
import { basic, mutualTls } from "./caller.js";

/** The header that `given.account` stands for; undefined: none. */
export function authorizationOf(account: string = "ok"): string | undefined {
  if (account === "noAuthorization") return undefined;
  return account === "wrongPassword" ? basic("sandbox", "wrong") : basic("sandbox");
}

/** Sends the filled request; `{{basic}}` and other names come from `values`. */
export async function differences(
  sandbox: Sandbox,
  { request: template, response: expected }: Fixture,
  values: Values,
): Promise<string[]> {
  const request = fill(template, values);
  const { authorization, ...headers } = request.headers ?? {};
  const isTls = request.clientCertificate === true;
  const answer = await got(`${isTls ? sandbox.tlsUrl : sandbox.url}${request.path}`, {
    method: request.method as Method,
    headers: { ...headers, ...(values["basic"] !== undefined && { authorization }) },
    body: request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body)),
    https: isTls ? mutualTls(sandbox) : {},
    retry: { limit: 0 },
    throwHttpErrors: false,
    allowGetBody: true,
  });
  const { statusCode, body } = answer;
  const found: string[] = [];
  if (statusCode !== expected.status) found.push(`status ${statusCode}, not ${expected.status}`);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    found.push(...matches(value, answer.headers[name], { values }));
  }
  if (expected.text !== undefined) found.push(...matches(expected.text, body, { values }));
  if (expected.body !== undefined) {
    found.push(...matches(expected.body, JSON.parse(body), { values }));
  }
  return found;
}
