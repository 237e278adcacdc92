// The postal API as a provider of the sandbox: its operations, and what the control API may do with its items.
import { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { Operation, SandboxProvider } from "../../exchange/operation.js";
import { keeping } from "../../exchange/kept.js";
import { describeItem } from "../evi/item.js";
import { authenticate } from "../evi/refuser.js";
import { itemOperations, splitList } from "./item-operations.js";
import { PostalService } from "./postal-service.js";
import { queryItems } from "./query.js";
import { refusal } from "./refusal.js";
import { postalSubmit } from "./submit.js";

export function eviPost(parts: SandboxParts): SandboxProvider {
  const postal = new PostalService(parts);
  const tokens = new IdempotencyTokens(parts.options.idempotencyLifetimeMs);
  const { items } = postal;
  // Two requests for an affidavit may be meant; two letters for one intent are not.
  parts.ledger.allowRepeats("evi-post.affidavitRequest");

  const query: Operation = {
    name: "query",
    route: "GET /v1/EviPost/Query",
    describe(arrival) {
      const keys = splitList(arrival.query["WithLookupKeys"]);
      const named = splitList(arrival.query["WithUniqueIds"]).flatMap((id) => items.get(id) ?? []);
      const item = named[0] ?? items.withLookupKey(keys[0] ?? "")[0];
      const lookupKeys = new Set([...keys, ...named.flatMap((found) => found.lookupKeys)]);
      return { ...describeItem(item), lookupKeys: [...lookupKeys] };
    },
    perform(call) {
      for (const key of splitList(call.query["WithLookupKeys"])) tokens.lookedUp(key);
      return queryItems(call, items, parts);
    },
  };

  return {
    name: "evi-post",
    operations: [postalSubmit(parts, postal, tokens), query, ...itemOperations(postal)],
    hasCallbacks: true,
    unprefixed: (path) => path.replace(/^\/v1/, ""),
    authenticate: (arrival) => authenticate(parts.accounts, arrival, refusal),
    refuse: (status, code, message) => refusal(status, String(code), message),
    ...postal.control(),
    kept: keeping({ items, tokens }),
  };
}
