// The credential wallet (P1 §1.6, §4.6): one function per endpoint, one HTTP call each, with the API Operator's token (P1 §5.6).
//
// | operation                       | method and path                                          | function                   | effect class |
// |---------------------------------|----------------------------------------------------------|----------------------------|--------------|
// | create an operator              | POST api/v1/user/create/                                 | createOperator             | once         |
// | define a credential template    | POST /credential/api/v1/template/create/                 | createTemplate             | once         |
// | create the issuance service     | POST /issuance/api/v1/service/create/                    | createIssuanceService      | once         |
// | start an issuance flow          | POST /issuance/api/v1/{issuance_service_id}/init         | initIssuance               | once         |
// | create a verification template  | POST /credential/api/v1/verification/template/create/    | createVerificationTemplate | once         |
// | create the presentation service | POST /verification/api/v1/service/create/                | createPresentationService  | once         |
// | start a presentation flow       | POST /verification/api/v1/{verification_service_id}/init | initPresentation           | once         |
//
// The first path is written without a leading slash in both flows: it is taken from the root of the host (wire.ts, assumed).
// Out of scope, because no path is shown (P1 §1.6): to manage operators, Organization entities and services.
//
// Request and response shapes are not shown (P1 §4.6). Every function throws ProviderError only: what each status means stands
// in translate.ts, what a failed connection means in ../http/exchange.ts. Each one: 400 `invalidRequest`, of a later effect of
// the process `protocol`; 401, 403 `accessDenied`; 408, 409, 5xx, no answer and another 2xx `unknownOutcome`, with the id that a
// broken answer shows as `reference`. A creation may answer a token too: an error shows nothing of such an answer.
import { isSameSpelling } from "../../contracts/shared/values.js";
import { withoutSecrets } from "../errors/redaction.js";
import { shownValue } from "../http/answer.js";
import { json, jsonOf, open } from "../http/described.js";
import type { CredentialWalletAccount } from "./account.js";
import type { WalletOperation } from "./effects.js";
import { CREATED_ID, CreatedAnswer, CreatedService, paths } from "./wire.js";
import { call as callHost, filledPath } from "../http/call.js";
import type { Answered } from "../http/call.js";
import type { Described } from "../http/described.js";
import { asking, refusal } from "./translate.js";

export type { CredentialWalletAccount } from "./account.js";

const MAX_KEPT_DEPTH = 50;

/** P1 §4.6, step 1 of both flows. */
export const createOperator = creation("createOperator", "operator", "operatorId");

/** P1 §4.6, step 2 of both flows. */
export const createTemplate = creation("createTemplate", "template", "templateId");

/** P1 §4.6, issuance, step 3: tied to the template (§1.6). */
export const createIssuanceService = creation(
  "createIssuanceService",
  "service",
  "issuanceServiceId",
  { templateId: "template" },
);

/** P1 §4.6, issuance, step 4. */
export const initIssuance = init("initIssuance", "issuance_service_id", "issuanceServiceId");

/** P1 §4.6, presentation, step 3: linked to one credential template (§2.11). */
export const createVerificationTemplate = creation(
  "createVerificationTemplate",
  "verificationTemplate",
  "verificationTemplateId",
  { templateId: "template" },
);

/** P1 §4.6, presentation, step 4: linked to operators and verification templates (§2.11). */
export const createPresentationService = creation(
  "createPresentationService",
  "verificationService",
  "verificationServiceId",
  { operatorIds: "operators", verificationTemplateIds: "verificationTemplates" },
);

/** P1 §4.6, presentation, step 5. */
export const initPresentation = init(
  "initPresentation",
  "verification_service_id",
  "verificationServiceId",
);

/** The ids of what was created before. */
export interface WalletLinks {
  templateId: string;
  operatorIds: readonly string[];
  verificationTemplateIds: readonly string[];
}

/**
 * Makes the call that creates something and returns its id as `id`. The whole answer may hold a secret, so nothing else of it is kept.
 * `links`: of each id that the request refers to, by which of the account's names it is sent.
 */
function creation<Id extends string, Link extends keyof WalletLinks = never>(
  operation: WalletOperation,
  created: keyof CredentialWalletAccount["members"],
  id: Id,
  links?: Record<Link, keyof CredentialWalletAccount["sent"]>,
) {
  const isService = created === "service" || created === "verificationService";
  return async (
    account: CredentialWalletAccount,
    given: WalletRequest & Pick<WalletLinks, Link>,
    signal?: AbortSignal,
  ): Promise<Record<Id, string>> => {
    const body: Record<string, unknown> = { ...given.fields };
    for (const link of Object.keys(links ?? {}) as Link[])
      if (links) body[account.sent[links[link]]] = given[link];
    const names = account.members[created];
    const described = json(isService ? CreatedService : CreatedAnswer, {
      isSecret: true,
      spelling: { members: { [CREATED_ID]: names } },
      reference: (answer) => shownValue(answer, ...names),
    });
    const request = { json: body, isLater: given.isLater, signal };
    const { value } = await call(account, operation, request, described);
    return { [id]: value[CREATED_ID] } as Record<Id, string>;
  };
}

/**
 * Makes the call that starts a flow of the service with the id `id`. `answer`: what the provider said, where it is JSON, without what looks
 * like a secret.
 */
function init<Id extends string>(operation: WalletOperation, name: string, id: Id) {
  return async (
    account: CredentialWalletAccount,
    given: WalletRequest & Record<Id, string>,
    signal?: AbortSignal,
  ): Promise<{ answer?: unknown }> => {
    const described = { ...open, isSecret: true };
    const inPath = { name, id: given[id] };
    const request = { json: given.fields, isLater: given.isLater, inPath, signal };
    const initiated = await call(account, operation, request, described);
    const answer = jsonOf(withoutSecrets(initiated).body);
    return answer === undefined ? {} : { answer: masked(answer, account.secretMembers) };
  };
}

/** The value, with a mark in place of every member that has one of these names, and of what is nested too deep to be looked at. */
function masked(value: unknown, names: readonly string[], depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_KEPT_DEPTH) return "[too deep]";
  if (Array.isArray(value)) return value.map((one) => masked(one, names, depth + 1));
  const isSecret = (name: string) => names.some((one) => isSameSpelling(one, name));
  const members = Object.entries(value).map(([name, one]): [string, unknown] => [
    name,
    isSecret(name) ? "[secret]" : masked(one, names, depth + 1),
  ]);
  return Object.fromEntries(members);
}

/** Every operation takes these, beside the ids that it refers to. */
export interface WalletRequest {
  /** The caller's own members; they are sent as they are. */
  fields: Record<string, unknown>;
  /** An earlier effect of the process exists: a 400 is `protocol`. */
  isLater?: boolean | undefined;
}

interface SentRequest {
  json: Record<string, unknown>;
  isLater?: boolean | undefined;
  /** The id that stands in the path, and its name there. */
  inPath?: { name: string; id: string };
  signal?: AbortSignal | undefined;
}

/** One HTTP call with the account's token; throws for what is no described answer. */
export async function call<T>(
  account: CredentialWalletAccount,
  operation: WalletOperation,
  { isLater = false, inPath, json, signal }: SentRequest,
  described: Described<T>,
): Promise<Answered<T>> {
  const token = account.apiToken.reveal();
  const headers = { [account.tokenHeader]: account.tokenPrefix + token };
  const path = pathOf(account, operation, inPath);
  const sent = { credentials: [token] };
  const request = { method: "POST", path, headers, json, sent, signal } as const;
  return callHost(asking(operation), account, request, described, (answer) =>
    refusal(operation, answer, isLater),
  );
}

/** Its trailing slash is part of it (P1 §4.6); a leading one is added where it has none. */
function pathOf(
  account: CredentialWalletAccount,
  operation: WalletOperation,
  inPath: SentRequest["inPath"],
): string {
  const shown = { ...paths, ...account.paths }[operation];
  const path = shown.startsWith("/") ? shown : `/${shown}`;
  return inPath ? filledPath(asking(operation), path, inPath.name, inPath.id) : path;
}
