// The control API under /_sandbox: what the sandbox holds, its clock, faults, accounts and items. No authentication.
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
} from "fastify";
import { accountView } from "../engine/accounts.js";
import type { AccountOptions } from "../engine/accounts.js";
import type { Speed } from "../engine/clock.js";
import { callbackFaultKinds, requestFaultKinds } from "../engine/faults.js";
import type { FaultOptions, FaultRule } from "../engine/faults.js";
import type { ItemSummary } from "../exchange/kept.js";
import type { Move, Publication, SandboxProvider } from "../exchange/operation.js";
import type { SandboxParts } from "../engine/parts.js";
import { stateReport } from "./state-report.js";

const problem = (reply: FastifyReply, status: number, error: string) =>
  reply.status(status).send({ error });

type Paged = { intent?: string; state?: string; limit?: string; offset?: string };

export function registerControl(
  server: FastifyInstance,
  parts: SandboxParts,
  providers: SandboxProvider[],
  reset: () => Promise<void>,
): void {
  const { accounts, callbacks, clock, faults, ledger, requests } = parts;
  const clockView = () => ({
    now: new Date(clock.now()).toISOString(),
    speed: clock.speed,
    pending: clock.pending,
    ...(clock.next !== undefined && { next: new Date(clock.next).toISOString() }),
  });
  /** About one item; a text says why it is refused. */
  const onItem =
    <Body>(
      status: number,
      act: (
        holder: SandboxProvider,
        id: string,
        body: Body,
      ) => Record<string, unknown> | string | undefined,
    ) =>
    (request: FastifyRequest, reply: FastifyReply) => {
      const { id } = request.params as { id: string };
      const holder = providers.find(({ kept }) => kept.item?.(id) !== undefined);
      if (!holder) return problem(reply, 404, `no item ${id}`);
      const done = act(holder, id, request.body as Body);
      return typeof done === "string" ? problem(reply, 400, done) : reply.status(status).send(done);
    };

  void server.register(
    async (scope) => {
      scope.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
        problem(reply, error.statusCode ?? 500, error.message),
      );
      scope.setNotFoundHandler(({ method, url }, reply) =>
        problem(reply, 404, `${method} ${url} is not a path of the control`),
      );
      scope.setSchemaErrorFormatter((errors, part) => new Error(inWords(errors, part)));
      scope.addHook("onRoute", (route) => {
        route.schema = { querystring: object({}), ...route.schema };
      });
      // What was changed is on disk before it is answered.
      scope.addHook("onSend", async ({ method }) => {
        if (method !== "GET") await parts.committed();
      });
      scope.get("/state", () => stateReport(parts, providers));
      scope.get("/ledger", { schema: { querystring: intentQuery } }, (request) =>
        ledger.report((request.query as { intent?: string }).intent),
      );
      scope.get("/messages", { schema: { querystring: intentQuery } }, (request) => ({
        messages: parts.outbox.list((request.query as { intent?: string }).intent),
      }));
      scope.get("/requests", () => ({ total: requests.totals(), newest: requests.list() }));
      scope.get("/callbacks", () => ({ counts: callbacks.counts(), newest: callbacks.log() }));

      scope.get("/clock", clockView);
      scope.put("/clock", { schema: { body: clockBody } }, (request) => {
        clock.setSpeed((request.body as { speed: Speed }).speed);
        return clockView();
      });
      scope.post("/clock/advance", { schema: { body: advanceBody } }, async (request) => {
        const { ran } = await clock.advance((request.body as { ms: number }).ms);
        return { ...clockView(), ran, hasFaults: faults.waitForCalls };
      });

      scope.get("/faults", () => ({ faults: faults.list() }));
      scope.post("/faults", { schema: { body: faultBody } }, (request, reply) => {
        let rule: FaultRule;
        try {
          rule = faults.add(request.body as FaultOptions);
        } catch (error) {
          return problem(reply, 400, (error as RangeError).message);
        }
        return reply.status(201).send(rule);
      });
      scope.delete("/faults", () => {
        faults.clear();
        return { faults: [] };
      });
      scope.delete("/faults/:id", (request, reply) => {
        const { id } = request.params as { id: string };
        return faults.remove(id)
          ? { faults: faults.list() }
          : problem(reply, 404, `no fault ${id}`);
      });

      scope.get("/accounts", () => ({
        accounts: accounts.list().map(accountView),
      }));
      scope.put("/accounts/:username", { schema: { body: accountBody } }, (request, reply) => {
        const { username } = request.params as { username: string };
        const change = request.body as Partial<AccountOptions>;
        const known = accounts.change(username, change);
        if (!known && change.password === undefined)
          return problem(reply, 400, "password: is required for a new account");
        return accountView(known ?? accounts.put({ ...(change as AccountOptions), username }));
      });

      scope.get("/items", { schema: { querystring: itemsQuery } }, (request) =>
        listItems(providers, request.query as Paged),
      );
      scope.get(
        "/items/:id",
        onItem(200, ({ kept }, id) => kept.item?.(id)),
      );
      scope.post(
        "/items/:id/move",
        { schema: { body: moveBody } },
        onItem<Move>(200, ({ name, move }, id, body) => {
          return move?.(id, body) ?? `${name}: its items are not moved`;
        }),
      );
      scope.post(
        "/items/:id/affidavits",
        { schema: { body: publicationBody } },
        onItem<Publication>(201, ({ name, publish }, id, body) => {
          return publish?.(id, body) ?? `${name}: its items have no affidavits`;
        }),
      );

      scope.post("/reset", async () => {
        await reset();
        return stateReport(parts, providers);
      });
    },
    { prefix: "/_sandbox" },
  );
}

function listItems(
  providers: SandboxProvider[],
  { intent, state, limit = "1000", offset = "0" }: Paged,
): { items: ItemSummary[]; total: number } {
  const all = providers
    .flatMap(({ kept }) => [...(kept.items?.() ?? [])])
    .filter((item) => (!intent || item.intent === intent) && (!state || item.state === state));
  const first = Number(offset);
  return { items: all.slice(first, first + Number(limit)), total: all.length };
}

// The request bodies and queries of the control API as JSON Schema; a refusal names the field.

/** `part`: body or querystring. */
function inWords(errors: FastifySchemaValidationError[], part: string): string {
  // Of a value that may be of several kinds, what each of them must be.
  const all = errors.filter(({ keyword }) => keyword !== "anyOf");
  const { instancePath = "", params = {} } = all[0] ?? {};
  const { missingProperty = "", additionalProperty = missingProperty } = params as Partial<
    Record<string, string>
  >;
  const path = [...instancePath.split("/").slice(1), additionalProperty].filter(Boolean);
  return `${path.join(".") || part}: ${all.map(problemOf).join(", or ")}`;
}

function problemOf({ keyword, params, message = "" }: FastifySchemaValidationError): string {
  if (keyword === "required") return "is required";
  if (keyword === "additionalProperties") return "is not known";
  if (keyword === "enum")
    return `must be one of ${(params["allowedValues"] as string[]).join(", ")}`;
  if (keyword === "const") return `must be ${String(params["allowedValue"])}`;
  return keyword === "pattern" ? "must be a whole number" : message;
}

const object = (properties: Record<string, object>, required: string[] = []) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
const text = { type: "string", minLength: 1 };
const flag = { type: "boolean" };
const texts = { type: "array", items: text };
const whole = (minimum: number) => ({ type: "integer", minimum });

const filter = { type: "string" };
const count = { type: "string", pattern: "^\\d+$" };
const intentQuery = object({ intent: filter });
const itemsQuery = object({ intent: filter, state: filter, limit: count, offset: count });

const clockBody = object(
  { speed: { anyOf: [{ enum: ["manual", "auto"] }, { type: "number", exclusiveMinimum: 0 }] } },
  ["speed"],
);
/** A hundred years: far beyond them there are no dates. */
const advanceBody = object({ ms: { ...whole(0), maximum: 36_525 * 86_400_000 } }, ["ms"]);

const faultBody = object(
  {
    operation: text,
    kind: { enum: [...requestFaultKinds, ...callbackFaultKinds] },
    status: { type: "integer", minimum: 300, maximum: 599 },
    code: { type: "integer" },
    retryAfterSeconds: whole(0),
    ms: whole(0),
    queries: whole(1),
    cached: flag,
    call: whole(1),
    times: { anyOf: [{ const: "always" }, whole(1)] },
    lookupKey: text,
    account: text,
    event: text,
    forMs: whole(1),
  },
  ["operation", "kind"],
);

const accountBody = object({
  password: text,
  apiKey: text,
  roles: texts,
  lras: {
    type: "object",
    additionalProperties: object({ methods: texts, eIDTypes: texts, hasEmailOtp: flag }),
  },
  token: text,
  webhookUrl: text,
  closeEventUrl: text,
  apiToken: text,
  canCancel: flag,
  provisioned: flag,
  site: object({ name: text, region: text, language: text }),
  ownerName: text,
  ownerEmail: text,
  certificationLevel: text,
  certificationLevels: texts,
  balance: whole(0),
  onDemandLimit: whole(0),
  postServiceProfiles: texts,
});

const moveBody = object({ state: text, outcome: text, keepPlan: flag }, ["state"]);
const publicationBody = object({ regenerates: text, keepsId: flag, requestId: text });
