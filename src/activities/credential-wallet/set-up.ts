// The effects of both flows, one each: the operator, the templates, the service, and the flow that is started (P1 §4.6).
// The digest of each covers what it sends, so that another body cannot take over what exists.
import * as wallet from "../../providers/credential-wallet/client.js";
import type { WalletRequest } from "../../providers/credential-wallet/client.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import type { WalletContext } from "./context.js";

/** What every step of both flows is called with, beside the ids that it refers to. */
export type WalletCall = StepCall & WalletRequest & { account: string };
/** An operator's `happened` may supply an id as a number. */
type Id = string | number;

export interface FlowInitiated {
  /** What the wallet answered, where it was JSON. */
  answer?: unknown;
  initiatedAt: string;
}

const now = () => new Date().toISOString();

export async function createOperator(
  context: WalletContext,
  { effect, fields, isLater }: WalletCall,
): Promise<{ operatorId: string }> {
  const { operatorId } = await runEffect(
    context,
    effect,
    {
      operation: "createOperator",
      input: { fields },
      send: ({ signal }): Promise<{ operatorId: Id }> =>
        wallet.createOperator(context.account, { fields, isLater }, signal),
    },
    { of: "step" },
  );
  return { operatorId: String(operatorId) };
}

export async function createTemplate(
  context: WalletContext,
  { effect, fields, isLater }: WalletCall,
): Promise<{ templateId: string }> {
  const { templateId } = await runEffect(
    context,
    effect,
    {
      operation: "createTemplate",
      input: { fields },
      send: ({ signal }): Promise<{ templateId: Id }> =>
        wallet.createTemplate(context.account, { fields, isLater }, signal),
    },
    { of: "step" },
  );
  return { templateId: String(templateId) };
}

export async function createIssuanceService(
  context: WalletContext,
  { effect, fields, isLater, templateId }: WalletCall & { templateId: string },
): Promise<{ issuanceServiceId: string }> {
  const { issuanceServiceId } = await runEffect(
    context,
    effect,
    {
      operation: "createIssuanceService",
      input: { fields, templateId },
      send: ({ signal }): Promise<{ issuanceServiceId: Id }> =>
        wallet.createIssuanceService(context.account, { fields, isLater, templateId }, signal),
    },
    { of: "step" },
  );
  return { issuanceServiceId: String(issuanceServiceId) };
}

export async function initIssuance(
  context: WalletContext,
  { effect, fields, isLater, issuanceServiceId }: WalletCall & { issuanceServiceId: string },
): Promise<FlowInitiated> {
  const initiated = await runEffect(
    context,
    effect,
    {
      operation: "initIssuance",
      input: { fields, issuanceServiceId },
      // An operator's `happened` supplies no answer.
      async send({ signal }): Promise<Partial<FlowInitiated> | undefined> {
        const request = { fields, isLater, issuanceServiceId };
        const answer = await wallet.initIssuance(context.account, request, signal);
        return { ...answer, initiatedAt: now() };
      },
    },
    { of: "step" },
  );
  return completed(initiated);
}

export async function createVerificationTemplate(
  context: WalletContext,
  { effect, fields, isLater, templateId }: WalletCall & { templateId: string },
): Promise<{ verificationTemplateId: string }> {
  const { verificationTemplateId } = await runEffect(
    context,
    effect,
    {
      operation: "createVerificationTemplate",
      input: { fields, templateId },
      send: ({ signal }): Promise<{ verificationTemplateId: Id }> =>
        wallet.createVerificationTemplate(context.account, { fields, isLater, templateId }, signal),
    },
    { of: "step" },
  );
  return { verificationTemplateId: String(verificationTemplateId) };
}

export async function createPresentationService(
  context: WalletContext,
  given: WalletCall & { operatorIds: string[]; verificationTemplateIds: string[] },
): Promise<{ verificationServiceId: string }> {
  const { effect, fields, isLater, operatorIds, verificationTemplateIds } = given;
  const { verificationServiceId } = await runEffect(
    context,
    effect,
    {
      operation: "createPresentationService",
      input: { fields, operatorIds, verificationTemplateIds },
      send({ signal }): Promise<{ verificationServiceId: Id }> {
        const request = { fields, isLater, operatorIds, verificationTemplateIds };
        return wallet.createPresentationService(context.account, request, signal);
      },
    },
    { of: "step" },
  );
  return { verificationServiceId: String(verificationServiceId) };
}

export async function initPresentation(
  context: WalletContext,
  given: WalletCall & { verificationServiceId: string },
): Promise<FlowInitiated> {
  const { effect, fields, isLater, verificationServiceId } = given;
  const initiated = await runEffect(
    context,
    effect,
    {
      operation: "initPresentation",
      input: { fields, verificationServiceId },
      async send({ signal }): Promise<Partial<FlowInitiated> | undefined> {
        const request = { fields, isLater, verificationServiceId };
        const answer = await wallet.initPresentation(context.account, request, signal);
        return { ...answer, initiatedAt: now() };
      },
    },
    { of: "step" },
  );
  return completed(initiated);
}

function completed({ answer, initiatedAt = now() }: Partial<FlowInitiated> = {}): FlowInitiated {
  return { ...(answer === undefined ? {} : { answer }), initiatedAt };
}
