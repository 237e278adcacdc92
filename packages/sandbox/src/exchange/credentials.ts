// What the headers of a request say: whose it is, and whether its body is JSON.
import { timingSafeEqual } from "node:crypto";
import type { Account, Accounts } from "../engine/accounts.js";
import type { Admission, Arrival } from "./operation.js";
import { refusal, unauthorized } from "./refusal.js";

/** A header that came once and is not empty; the name in lower case. */
export function header({ headers }: Arrival, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** `Content-Type: application/json`, with or without a charset. */
export function isJson(arrival: Arrival): boolean {
  return /^application\/json\s*(;|$)/i.test(header(arrival, "content-type") ?? "");
}

/** The account that the Basic credentials are right for. */
export function basicAccount(accounts: Accounts, arrival: Arrival): Account | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header(arrival, "authorization") ?? "")?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  const account = accounts.get(text.slice(0, Math.max(0, colon)));
  if (!account || colon < 0) return undefined;
  const given = Buffer.from(text.slice(colon + 1));
  const expected = Buffer.from(account.password);
  return given.length === expected.length && timingSafeEqual(given, expected) ? account : undefined;
}

/** By a token in the header `name`, right after `prefix`. */
export function tokenAdmission(
  arrival: Arrival,
  { name, prefix }: { name: string; prefix: string },
  holder: (token: string) => Account | undefined,
): Admission {
  const value = header(arrival, name.toLowerCase());
  const account = value?.startsWith(prefix) ? holder(value.slice(prefix.length)) : undefined;
  if (!account) {
    const denial = unauthorized("wrong or missing token");
    return { denial, ...(value === undefined && { missing: name }) };
  }
  if (account.provisioned) return { account };
  return { account, denial: refusal(403, "forbidden", "the account is not provisioned") };
}
