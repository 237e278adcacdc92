// The one error that leaves the provider layer. Its message, its enumerable properties and its stack carry no body,
// URL, header or secret; the provider's own words (`detail`, `fields[].message`) are hidden properties.
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import { plainText } from "../../contracts/shared/text.js";
import type { EffectClass } from "../effect-classes.js";

/** Why an answer is not the described one; a label of the metric. */
export type MismatchKind =
  | "mediaType"
  | "webPage"
  | "empty"
  | "notEmpty"
  | "notJson"
  | "shape"
  | "error"
  | "content"
  | "redirect";

/** Limits the provider's words. */
const MAX_BYTES = 500;
/** Limits the fields that the provider finds fault with. */
const MAX_FIELDS = 50;

/** May the provider have acted? */
export type PossibleEffect = "none" | "unknown";

export interface ProviderErrorField {
  errorCode?: string;
  fieldName?: string;
  /** The provider's text, which may repeat personal data: not enumerable, so copy it by name and only into encrypted payloads. */
  message?: string;
}

interface ProviderErrorDescription {
  kind: ProblemKind;
  effect: PossibleEffect;
  provider: string;
  operation: string;
  host?: string | undefined;
  problem: string;
  /** Where an answer is not what the specification describes: how, and which member of it. */
  mismatch?: MismatchKind | undefined;
  member?: string | undefined;
  status?: number | undefined;
  code?: string | undefined;
  type?: string | undefined;
  requestId?: string | undefined;
  reference?: string | undefined;
  fields?: readonly { [key in keyof ProviderErrorField]?: string | undefined }[];
  retryAfterMs?: number | undefined;
  detail?: string | undefined;
  /** By default a 403 is about the operation, everything else about the account (docs/reading-the-specification.md §9). */
  denies?: "account" | "operation";
}

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProblemKind;
  readonly effect: PossibleEffect;
  readonly provider: string;
  readonly operation: string;
  /** The host that was called, with its port; `call` of http/call.ts sets it. */
  declare host?: string;
  /** Says what happened in words of ours that may be shown: no text of the provider or of a caller. */
  readonly problem: string;
  /** Where an answer is not what the specification describes: how, and which member of it. */
  declare readonly mismatch?: MismatchKind;
  declare readonly member?: string;
  declare readonly status?: number;
  /** Is the provider's classifier, or the code of the network failure (`ECONNRESET`). */
  declare readonly code?: string;
  /** A URI, perhaps with a fragment (P2 §7.2). */
  declare readonly type?: string;
  declare readonly requestId?: string;
  /** The id that a broken 2xx nevertheless showed. */
  declare readonly reference?: string;
  readonly fields: readonly ProviderErrorField[];
  declare readonly retryAfterMs?: number;
  readonly denies: "account" | "operation";
  /** The provider's text, which may repeat personal data: not enumerable, only for encrypted payloads. */
  declare readonly detail?: string;

  constructor(description: ProviderErrorDescription) {
    const { kind, effect, provider, operation, problem, status } = description;
    const code = classifier(description.code);
    const fields = (description.fields ?? []).slice(0, MAX_FIELDS).map(safeField);
    const names = fields.map((field) =>
      [field.fieldName, field.errorCode].filter(Boolean).join(" "),
    );
    const hints = [code, ...names].filter(Boolean).join("; ");
    super(`${provider} ${operation}: ${problem}${hints === "" ? "" : ` (${hints})`}`);
    this.kind = kind;
    this.effect = effect;
    this.provider = provider;
    this.operation = operation;
    this.problem = problem;
    this.denies = description.denies ?? (status === 403 ? "operation" : "account");
    this.fields = fields;
    const { host, mismatch, member, reference, retryAfterMs } = description;
    const type = classifier(description.type?.replace("#", "/")) && description.type;
    const requestId = classifier(description.requestId);
    const optional = { host, mismatch, status, code, type, requestId, reference, retryAfterMs };
    const known = Object.entries({ ...optional, member: member || undefined });
    Object.assign(this, Object.fromEntries(known.filter(([, value]) => value !== undefined)));
    hide(this, "detail", description.detail);
  }
}

/** Without a usable answer the request may have been processed: what that means depends on the class. */
export function withoutAnswer(effectClass: EffectClass): {
  kind: ProblemKind;
  effect: PossibleEffect;
} {
  switch (effectClass) {
    case "read":
      return { kind: "unavailable", effect: "none" };
    case "repeatable":
    case "keyed":
    case "lookup":
      return { kind: "unavailable", effect: "unknown" };
    case "once":
      return { kind: "unknownOutcome", effect: "unknown" };
  }
}

function safeField(field: {
  [key in keyof ProviderErrorField]?: string | undefined;
}): ProviderErrorField {
  const safe: ProviderErrorField = {};
  const fieldName = classifier(field.fieldName);
  const errorCode = classifier(field.errorCode);
  if (fieldName !== undefined) safe.fieldName = fieldName;
  if (errorCode !== undefined) safe.errorCode = errorCode;
  hide(safe, "message", field.message);
  return safe;
}

/** A machine-readable name; anything that reads like a sentence, an address or a value is dropped. */
function classifier(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w.:/[\]-]{1,120}$/.test(text) ? text : undefined;
}

/** Plain and cut: whatever an answer holds, an error of it fits into a failure. */
function hide(target: object, key: string, text: string | undefined): void {
  if (text === undefined) return;
  Object.defineProperty(target, key, { value: plainText(text, MAX_BYTES), enumerable: false });
}
