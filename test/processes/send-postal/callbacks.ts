// Callbacks with something personal in each part, good ones and bad ones, at the addresses of processes that run, have
// ended, or never were.
import { randomUUID } from "node:crypto";
import { callbackAddress } from "../../harness/stack/inbox.js";
import type { TestStack } from "../../harness/stack/stack.js";

export const addressOf = (system: TestStack, workflowId: string) =>
  callbackAddress(system, { provider: "evi-post", workflowId });

export function eventOf(more: object = {}, data: object = {}): Record<string, unknown> {
  const own = { Identifier: randomUUID(), Kind: "Sent", Date: new Date().toISOString() };
  return { ...own, AdditionalData: data, ...more };
}

export async function post(url: string, body: unknown): Promise<number> {
  const { status } = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return status;
}

/** What a receiver may be sent; the answers by name. `open` and `ended` are workflow ids. */
export async function postAll(
  system: TestStack,
  words: (of: string) => string,
  { open, ended }: { open: string; ended: string },
): Promise<Record<string, number>> {
  const [here, late, nowhere] = [open, ended, "sendPostal/never-was"].map((workflowId) =>
    addressOf(system, workflowId),
  ) as [string, string, string];
  const details = words("details");
  const published = {
    AffidavitId: randomUUID(),
    AffidavitName: words("affidavit"),
    Description: details,
  };
  const personal = { Details: details, Comments: words("comments"), Recipient: words("recipient") };
  const forged = `${here.slice(0, here.lastIndexOf("."))}.${"0".repeat(64)}`;
  return {
    good: await post(here, eventOf({ OwnerEmail: words("owner") }, personal)),
    affidavit: await post(here, eventOf({ Kind: "AffidavitPublished" }, published)),
    unreadable: await post(here, eventOf({ Date: words("date") }, personal)),
    unnamed: await post(here, eventOf({ Identifier: { of: words("identifier") } }, personal)),
    uncorrelated: await post(here, eventOf({}, { ExtraData: words("correlation") })),
    late: await post(late, eventOf({}, personal)),
    unknown: await post(nowhere, eventOf({}, personal)),
    forged: await post(forged, eventOf({}, personal)),
    unheard: await post(new URL(`/callbacks/${words("path")}`, here).href, eventOf({}, personal)),
    malformed: await post(here, `{"Details": "${details}"`),
    oversized: await post(here, eventOf({}, { Details: details.repeat(20_000) })),
  };
}
