// The effects of both flows, one each: the operator, the templates, the service, and the flow that is started (P1 §4.6).
// The digest of each covers what it sends, so that another body cannot take over what exists.
import * as wallet from "../../providers/credential-wallet/client.js";
import type {
  CredentialWalletAccount,
  WalletRequest,
} from "../../providers/credential-wallet/client.js";
import type { Operation } from "../../providers/registry.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { StepCall } from "../runtime/activity.js";
import { referenceOf } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import type { provider, WalletContext } from "./context.js";

/** What every step of both flows is called with, beside the ids that it refers to. */
export type WalletCall = StepCall & WalletRequest & { account: string };

export interface FlowInitiated {
  /** What the wallet answered, where it was JSON. */
  document?: DocumentReference;
  /** The same, of an earlier release. */
  answer?: unknown;
  initiatedAt: string;
}

export function createOperator(
  context: WalletContext,
  { effect, fields, isLater }: WalletCall,
): Promise<{ operatorId: string }> {
  const call = { operation: "createOperator", send: wallet.createOperator } as const;
  return create(context, effect, { ...call, id: "operatorId", request: { fields, isLater } });
}

export function createTemplate(
  context: WalletContext,
  { effect, fields, isLater }: WalletCall,
): Promise<{ templateId: string }> {
  const call = { operation: "createTemplate", send: wallet.createTemplate } as const;
  return create(context, effect, { ...call, id: "templateId", request: { fields, isLater } });
}

export function createIssuanceService(
  context: WalletContext,
  { effect, fields, isLater, templateId }: WalletCall & { templateId: string },
): Promise<{ issuanceServiceId: string }> {
  const call = { operation: "createIssuanceService", send: wallet.createIssuanceService } as const;
  const request = { fields, isLater, templateId };
  return create(context, effect, { ...call, id: "issuanceServiceId", request });
}

export function initIssuance(
  context: WalletContext,
  { effect, fields, isLater, issuanceServiceId }: WalletCall & { issuanceServiceId: string },
): Promise<FlowInitiated> {
  const call = { operation: "initIssuance", send: wallet.initIssuance } as const;
  return init(context, effect, { ...call, request: { fields, isLater, issuanceServiceId } });
}

export function createVerificationTemplate(
  context: WalletContext,
  { effect, fields, isLater, templateId }: WalletCall & { templateId: string },
): Promise<{ verificationTemplateId: string }> {
  const operation = "createVerificationTemplate";
  const call = { operation, send: wallet.createVerificationTemplate } as const;
  const request = { fields, isLater, templateId };
  return create(context, effect, { ...call, id: "verificationTemplateId", request });
}

export function createPresentationService(
  context: WalletContext,
  given: WalletCall & { operatorIds: string[]; verificationTemplateIds: string[] },
): Promise<{ verificationServiceId: string }> {
  const { effect, fields, isLater, operatorIds, verificationTemplateIds } = given;
  const operation = "createPresentationService";
  const call = { operation, send: wallet.createPresentationService } as const;
  const request = { fields, isLater, operatorIds, verificationTemplateIds };
  return create(context, effect, { ...call, id: "verificationServiceId", request });
}

export function initPresentation(
  context: WalletContext,
  given: WalletCall & { verificationServiceId: string },
): Promise<FlowInitiated> {
  const { effect, fields, isLater, verificationServiceId } = given;
  const call = { operation: "initPresentation", send: wallet.initPresentation } as const;
  return init(context, effect, { ...call, request: { fields, isLater, verificationServiceId } });
}

interface Call<Request, Answer> {
  operation: Operation<typeof provider>;
  send(account: CredentialWalletAccount, request: Request, signal: AbortSignal): Promise<Answer>;
  request: Request;
}

/** `id`: by which name the answer has the id of what was created. */
async function create<Request extends WalletRequest, Name extends string>(
  context: WalletContext,
  effect: StepCall["effect"],
  { id, ...call }: Call<Request, Record<Name, string>> & { id: Name },
): Promise<Record<Name, string>> {
  // An operator's `happened` may supply an id as a number.
  const answer = await run<Request, Record<Name, string | number>>(context, effect, call);
  return { [id]: String(answer[id]) } as Record<Name, string>;
}

async function init<Request extends WalletRequest>(
  context: WalletContext,
  effect: StepCall["effect"],
  { send, ...call }: Call<Request, { answer?: unknown }>,
): Promise<FlowInitiated> {
  const now = () => new Date().toISOString();
  // An operator's `happened` supplies no answer.
  const initiated = await run<Request, Partial<FlowInitiated> | undefined>(context, effect, {
    ...call,
    send: async (...sent) => ({ ...(await send(...sent)), initiatedAt: now() }),
  });
  const { answer, initiatedAt = now() } = initiated ?? {};
  if (answer === undefined) return { initiatedAt };
  return { document: await kept(context, answer), initiatedAt };
}

/**
 * Its shape is not shown, and it may hold the URL of an offer: who opens that first has the credential. So it stands in no payload, which
 * more people can decode than may have it, but is a document, sealed with the key of the process.
 */
function kept({ deps }: WalletContext, answer: unknown): Promise<DocumentReference> {
  const base64 = Buffer.from(JSON.stringify(answer)).toString("base64");
  return referenceOf(deps, { base64, mediaType: "application/json" }, "answer");
}

/** Which effect of the process it is does not change what is sent, so the digest leaves that out. */
function run<Request extends WalletRequest, Answer>(
  context: WalletContext,
  effect: StepCall["effect"],
  { operation, send, request }: Call<Request, Answer>,
): Promise<Answer> {
  const { isLater: _, ...input } = request;
  return runEffect(context, effect, {
    operation,
    input,
    send: ({ signal }) => send(context.account, request, signal),
  });
}
