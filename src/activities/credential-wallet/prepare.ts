// The check of both inputs before any effect (P1 §2.11, 4.6). Which members the process sets itself is configured, so the contract
// cannot know them.
import { IssueCredentialInput } from "../../contracts/issue-credential/contract.js";
import { PresentCredentialInput } from "../../contracts/present-credential/contract.js";
import { isSameSpelling } from "../../contracts/shared/values.js";
import type { AttemptMode } from "../runtime/failure.js";
import { InvalidInput } from "../runtime/failure.js";
import type { WalletContext } from "./context.js";

/** What the process does, fixed for the run. */
export interface WalletPlan {
  environment: string;
  account: string;
}

/** The argument of both. */
export interface Given {
  input: unknown;
  mode: AttemptMode;
}

type Fields = Record<string, unknown> | undefined;

export async function prepareIssuance(context: WalletContext, given: Given): Promise<WalletPlan> {
  const { service } = context.parse(IssueCredentialInput, given.input);
  const { template } = context.account.sent;
  refuseOwn([["service", service.providerFields, [template]]]);
  return planOf(context);
}

export async function preparePresentation(
  context: WalletContext,
  given: Given,
): Promise<WalletPlan> {
  const { service, verificationTemplate } = context.parse(PresentCredentialInput, given.input);
  const { template, operators, verificationTemplates } = context.account.sent;
  refuseOwn([
    ["verificationTemplate", verificationTemplate?.providerFields, [template]],
    ["service", service.providerFields, [operators, verificationTemplates]],
  ]);
  return planOf(context);
}

function planOf({ account, deps }: WalletContext): WalletPlan {
  return { environment: deps.environment, account: account.name };
}

/** Refuses the members that the process sets itself. */
function refuseOwn(parts: [part: string, fields: Fields, own: string[]][]): void {
  const problems = parts.flatMap(([part, fields = {}, own]) =>
    Object.keys(fields)
      .filter((name) => own.some((one) => isSameSpelling(one, name)))
      .map((name) => ({
        path: `${part}.providerFields.${name}`,
        problem: "must be left out: the process sets it (P1 §2.11)",
      })),
  );
  if (problems.length > 0) throw new InvalidInput(problems);
}
