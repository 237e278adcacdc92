// The plan of an envelope: the checked input, with every document in the store (P1 §1.5, 4.5).
import { SignEnvelopeInput } from "../../contracts/sign-envelope/contract.js";
import type { EnvelopeSettings } from "../../contracts/sign-envelope/contract.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { AttemptMode } from "../runtime/failure.js";
import { checkedReferenceOf } from "../runtime/documents.js";
import { resolved } from "../runtime/provider-context.js";
import type { EnvelopeContext } from "./context.js";

export interface PlannedDocument {
  name: string;
  document: DocumentReference;
  providerFields?: Record<string, unknown> | undefined;
}

/** What the process does, fixed for the run. */
export interface EnvelopePlan {
  environment: string;
  account: string;
  settings: EnvelopeSettings;
  /** All of them in the document store. */
  documents: PlannedDocument[];
}

/** Before any effect: validates the input, stores each inline document, and checks each stored one. */
export async function prepare(
  context: EnvelopeContext,
  given: { input: unknown; mode: AttemptMode },
): Promise<EnvelopePlan> {
  const { account, deps } = context;
  const input = context.parse(SignEnvelopeInput, given.input);
  const documents: PlannedDocument[] = [];
  // One after the other: fifty of them may be more than the memory holds.
  for (const [index, file] of input.documents.entries()) {
    const path = `documents.${index}.document`;
    const document = await checkedReferenceOf(deps, file.document, "submitted", path);
    documents.push({ ...file, document });
  }
  return {
    environment: deps.environment,
    account: account.name,
    settings: resolved(deps.defaults.signEnvelope, input.settings),
    documents,
  };
}
