// The effects of both flows, one each: the operator, the templates, the service, and the flow that is started (P1 §4.6).
// The digest of each covers what it sends, so that another body cannot take over what exists.
import * as wallet from "../../providers/credential-wallet/client.js";
import type { WalletRequest } from "../../providers/credential-wallet/client.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import type { WalletContext } from "./context.js";

type WalletStep = StepCall & WalletRequest & { account: string };
/** An operator's `happened` may supply an id as a number. */
type Id = string | number;

export interface FlowInitiated {
  /** What the wallet answered, where it was JSON. */
  answer?: unknown;
}

export async function createOperator(
  context: WalletContext,
  { effect, fields, isLater }: WalletStep,
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
  { effect, fields, isLater }: WalletStep,
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
  { effect, fields, isLater, templateId }: WalletStep & { templateId: string },
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
  { effect, fields, isLater, issuanceServiceId }: WalletStep & { issuanceServiceId: string },
): Promise<FlowInitiated> {
  const initiated = await runEffect(
    context,
    effect,
    {
      operation: "initIssuance",
      input: { fields, issuanceServiceId },
      // An operator's `happened` supplies no answer.
      send: ({ signal }): Promise<FlowInitiated | undefined> =>
        wallet.initIssuance(context.account, { fields, isLater, issuanceServiceId }, signal),
    },
    { of: "step" },
  );
  return answerOf(initiated);
}

export async function createVerificationTemplate(
  context: WalletContext,
  { effect, fields, isLater, templateId }: WalletStep & { templateId: string },
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
  given: WalletStep & { operatorId: string; verificationTemplateId: string },
): Promise<{ verificationServiceId: string }> {
  const { effect, fields, isLater, operatorId, verificationTemplateId } = given;
  const { verificationServiceId } = await runEffect(
    context,
    effect,
    {
      operation: "createPresentationService",
      input: { fields, operatorId, verificationTemplateId },
      send({ signal }): Promise<{ verificationServiceId: Id }> {
        const operatorIds = [operatorId];
        const verificationTemplateIds = [verificationTemplateId];
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
  {
    effect,
    fields,
    isLater,
    verificationServiceId,
  }: WalletStep & { verificationServiceId: string },
): Promise<FlowInitiated> {
  const initiated = await runEffect(
    context,
    effect,
    {
      operation: "initPresentation",
      input: { fields, verificationServiceId },
      send({ signal }): Promise<FlowInitiated | undefined> {
        const request = { fields, isLater, verificationServiceId };
        return wallet.initPresentation(context.account, request, signal);
      },
    },
    { of: "step" },
  );
  return answerOf(initiated);
}

function answerOf(initiated: FlowInitiated | undefined): FlowInitiated {
  return initiated?.answer === undefined ? {} : { answer: initiated.answer };
}
