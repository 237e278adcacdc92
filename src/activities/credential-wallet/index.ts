// Makes the calls of a wallet's flow (P1 §1.6, §2.11, §4.6; docs/reading-the-specification.md §0, §7). Both inputs are checked before any
// effect: which members the process sets itself is configured, so the contract cannot know them. The digest of each effect covers what it
// sends, so that another body cannot take over what exists.
import * as wallet from "../../providers/credential-wallet/client.js";
import { IssueCredentialInput } from "../../contracts/issue-credential/contract.js";
import { PresentCredentialInput } from "../../contracts/present-credential/contract.js";
import { isSameSpelling } from "../../contracts/shared/values.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type {
  CredentialWalletAccount,
  WalletRequest,
} from "../../providers/credential-wallet/client.js";
import type { Operation } from "../../providers/registry.js";
import { activitiesOf } from "../runtime/activity.js";
import type { InputCall, StepCall } from "../runtime/activity.js";
import { documentReference } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import { NotAllowed, ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "credential-wallet";

type WalletContext = ProviderContext<typeof provider>;

/** It is fixed for the run. */
export type WalletPlan = WalletContext["place"];

type Fields = Record<string, unknown> | undefined;

export async function prepareIssuance(
  context: WalletContext,
  given: InputCall,
): Promise<WalletPlan> {
  const { service } = context.parse(IssueCredentialInput, given.input);
  const { template } = context.account.sent;
  refuseOwn([["service", service.providerFields, [template]]]);
  return context.place;
}

export async function preparePresentation(
  context: WalletContext,
  given: InputCall,
): Promise<WalletPlan> {
  const { service, verificationTemplate } = context.parse(PresentCredentialInput, given.input);
  const { template, operators, verificationTemplates } = context.account.sent;
  refuseOwn([
    ["verificationTemplate", verificationTemplate?.providerFields, [template]],
    ["service", service.providerFields, [operators, verificationTemplates]],
  ]);
  return context.place;
}

/** Refuses the members that the process sets itself. */
function refuseOwn(parts: [part: string, fields: Fields, reserved: string[]][]): void {
  const problems = parts.flatMap(([part, fields = {}, reserved]) =>
    Object.keys(fields)
      .filter((name) => reserved.some((one) => isSameSpelling(one, name)))
      .map((name) => ({
        path: `${part}.providerFields.${name}`,
        problem: "must be left out: the process sets it (P1 §2.11)",
      })),
  );
  if (problems.length > 0) throw new NotAllowed(problems);
}

/** Every step of both flows takes it, beside the ids that it refers to. */
export type WalletCall = StepCall & WalletRequest & { account: string };

export interface FlowInitiated {
  /** Holds the wallet's answer, if that was JSON. */
  document?: DocumentReference;
  initiatedAt: string;
}

export const createOperator = creation("createOperator", wallet.createOperator, "operatorId");
export const createTemplate = creation("createTemplate", wallet.createTemplate, "templateId");
export const createIssuanceService = creation(
  "createIssuanceService",
  wallet.createIssuanceService,
  "issuanceServiceId",
  ["templateId"],
);
export const initIssuance = init("initIssuance", wallet.initIssuance, "issuanceServiceId");
export const createVerificationTemplate = creation(
  "createVerificationTemplate",
  wallet.createVerificationTemplate,
  "verificationTemplateId",
  ["templateId"],
);
export const createPresentationService = creation(
  "createPresentationService",
  wallet.createPresentationService,
  "verificationServiceId",
  ["operatorIds", "verificationTemplateIds"],
);
export const initPresentation = init(
  "initPresentation",
  wallet.initPresentation,
  "verificationServiceId",
);

type Send<Request, Answer> = (
  account: CredentialWalletAccount,
  request: Request,
  signal: AbortSignal,
) => Promise<Answer>;

/** `id`: by which name the answer has the id of what was created. `links`: the ids that the request refers to. */
function creation<Request extends WalletRequest, Id extends string>(
  operation: Operation<typeof provider>,
  send: Send<Request, Record<Id, string>>,
  id: Id,
  links: readonly (string & keyof Request)[] = [],
) {
  return async (
    context: WalletContext,
    given: WalletCall & Request,
  ): Promise<Record<Id, string>> => {
    // An operator's `happened` may supply an id as a number.
    const answer: Record<Id, string | number> = await run(context, operation, given, links, send);
    return { [id]: String(answer[id]) } as Record<Id, string>;
  };
}

function init<Request extends WalletRequest>(
  operation: Operation<typeof provider>,
  send: Send<Request, { answer?: unknown }>,
  service: string & keyof Request,
) {
  const now = () => new Date().toISOString();
  return async (context: WalletContext, given: WalletCall & Request): Promise<FlowInitiated> => {
    // An operator's `happened` supplies no answer.
    const initiated: { answer?: unknown; initiatedAt?: string } | undefined = await run(
      context,
      operation,
      given,
      [service],
      async (...sent: Parameters<typeof send>) => ({
        ...(await send(...sent)),
        initiatedAt: now(),
      }),
    );
    const { answer, initiatedAt = now() } = initiated ?? {};
    if (answer === undefined) return { initiatedAt };
    return { document: await kept(context, answer), initiatedAt };
  };
}

/**
 * Its shape is not shown, and it may hold the URL of an offer: who opens that first has the credential. So it stands in no payload, which
 * more people can decode than may have it, but is a document, sealed with the key of the process.
 */
function kept({ deps }: WalletContext, answer: unknown): Promise<DocumentReference> {
  const base64 = Buffer.from(JSON.stringify(answer)).toString("base64");
  return documentReference(deps, { base64, mediaType: "application/json" }, "answer");
}

/** Which effect of the process it is does not change what is sent, so the digest leaves that out. */
function run<Request extends WalletRequest, Answer>(
  context: WalletContext,
  operation: Operation<typeof provider>,
  { effect, fields, isLater, ...given }: WalletCall & Request,
  links: readonly string[],
  send: Send<Request, Answer>,
): Promise<Answer> {
  const ids = Object.fromEntries(Object.entries(given).filter(([name]) => links.includes(name)));
  const input = { fields, ...ids };
  return runEffect(context, effect, {
    operation,
    input,
    send: ({ signal }) => send(context.account, { ...input, isLater } as Request, signal),
  });
}

export function createWalletActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, ProviderContext);
  return {
    prepareIssuance: activity("prepare", prepareIssuance),
    preparePresentation: activity("prepare", preparePresentation),
    createOperator: activity("createOperator", createOperator),
    createTemplate: activity("createTemplate", createTemplate),
    createIssuanceService: activity("createIssuanceService", createIssuanceService),
    initIssuance: activity("initIssuance", initIssuance),
    createVerificationTemplate: activity("createVerificationTemplate", createVerificationTemplate),
    createPresentationService: activity("createPresentationService", createPresentationService),
    initPresentation: activity("initPresentation", initPresentation),
  };
}

export type WalletActivities = ReturnType<typeof createWalletActivities>;
