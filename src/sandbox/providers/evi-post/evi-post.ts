// The postal API as a provider of the sandbox: its operations, and what the control API may do with its items.
import { basicAccount, header } from "../../exchange/credentials.js";
import { IdempotencyTokens, type IdempotencyState } from "../../engine/idempotency.js";
import type {
  Admission,
  Arrival,
  ItemSummary,
  Operation,
  SandboxProvider,
} from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { describeItem, itemOperations, splitList } from "./item-operations.js";
import { states, type PostalState } from "./lifecycle.js";
import { summary, type PostItem } from "./post-item.js";
import { PostalService } from "./postal-service.js";
import { queryItems } from "./query.js";
import { refusal } from "./refusal.js";
import { submitOperation } from "./submit.js";

interface EviPostState {
  items: PostItem[];
  tokens: IdempotencyState;
}

/** An item without its callback address, which is a capability. */
function view(item: PostItem): Record<string, unknown> {
  const { callback, ...rest } = item;
  return { ...rest, ...summary(item), ...(callback && { callbackFilter: callback.filter }) };
}

export function eviPost(parts: SandboxParts): SandboxProvider {
  const postal = new PostalService(parts);
  const tokens = new IdempotencyTokens(parts.options.idempotencyLifetimeMs);
  const { items } = postal;
  // Two requests for an affidavit may be meant; two letters for one intent are not.
  parts.ledger.allowRepeats("evi-post.affidavitRequest");

  const query: Operation = {
    name: "query",
    method: "GET",
    path: "/v1/EviPost/Query",
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

  /** P2 §5. */
  function authenticate(arrival: Arrival): Admission {
    const account = basicAccount(parts.accounts, arrival);
    if (!account) {
      const why = "wrong credentials or missing Authorization header";
      const denial = refusal(401, "Unauthorized", why);
      denial.headers["www-authenticate"] = 'Basic realm="sandbox"';
      return { denial, ...(!header(arrival, "authorization") && { missing: "Authorization" }) };
    }
    if (account.provisioned) return { account };
    const why = "the account is not provisioned for this service";
    return { account, denial: refusal(403, "Forbidden", why) };
  }

  return {
    name: "evi-post",
    operations: [submitOperation(parts, postal, tokens), query, ...itemOperations(postal)],
    hasCallbacks: true,
    unprefixed: (path) => path.replace(/^\/v1/, ""),
    authenticate,
    refuse: (status, code, message) => refusal(status, String(code), message),
    *items(): Iterable<ItemSummary> {
      for (const item of items.all()) yield summary(item);
    },
    item(id) {
      const item = items.get(id);
      return item && view(item);
    },
    move(id, { state, outcome, keepPlan }) {
      const item = items.get(id);
      if (!item) return undefined;
      if (!(states as readonly string[]).includes(state)) {
        return `state: must be one of ${states.join(", ")}`;
      }
      postal.move(item, state as PostalState, outcome, keepPlan ?? false);
      return view(item);
    },
    publish(id, { regenerates, keepsId, requestId }) {
      const item = items.get(id);
      if (!item) return undefined;
      const earlier = item.affidavits.findLast((affidavit) => affidavit.id === regenerates);
      if (regenerates !== undefined && !earlier) return "regenerates: no such affidavit";
      const moment = requestId === undefined ? "close" : "on-demand";
      const how = {
        ...(requestId !== undefined && { requestId }),
        ...(earlier && { regenerates: earlier, keepsId: keepsId ?? true }),
      };
      return { ...postal.publish(item, moment, parts.clock.now(), how) };
    },
    save: (): EviPostState => ({ items: [...items.all()], tokens: tokens.save() }),
    load(state) {
      const saved = state as EviPostState;
      items.clear();
      for (const item of saved.items) items.add(item);
      tokens.load(saved.tokens);
    },
    clear() {
      items.clear();
      tokens.clear();
    },
  };
}
