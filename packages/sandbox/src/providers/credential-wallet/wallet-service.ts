// The objects of the wallet (P1 §2.11; fields and states are assumed: not shown): whatever was created, and the flows that were
// started. They are seen by their own account alone, and brought together by intent.
import type { Account } from "../../engine/accounts.js";
import type { SandboxParts } from "../../engine/parts.js";
import { isVisible, type Hideable } from "../../engine/visibility.js";
import { fieldsOf } from "../../exchange/checker.js";
import { describeIntent } from "../../exchange/description.js";
import { Shelf } from "../../exchange/kept.js";
import { magicKey, readMagicMember } from "../../exchange/magic.js";
import type { Arrival, Description } from "../../exchange/operation.js";

export const PROVIDER = "credential-wallet";

export type Kind =
  | "operator"
  | "template"
  | "verificationTemplate"
  | "issuanceService"
  | "presentationService"
  | "issuance"
  | "presentation";

const operationNames = [
  "createOperator",
  "createTemplate",
  "createIssuanceService",
  "initIssuance",
  "createVerificationTemplate",
  "createPresentationService",
  "initPresentation",
] as const;
export type OperationName = (typeof operationNames)[number];

const words = ["with-token", "empty-init"] as const;
const vocabulary = { provider: PROVIDER, operations: operationNames, words };
/** The magic words stand in the member `sandbox` of a request. */
export const readRequestMagic = (body: unknown) => readMagicMember(fieldsOf(body), vocabulary);

/** Whose request it is, and what its magic words ask for; a step takes over those of the step before. */
interface Subject {
  /** The body's `reference`, else that of the object that it refers to: what the ledger counts by. */
  intent: string | null;
  magicKey?: string;
  words: (typeof words)[number][];
}

export interface WalletObject extends Subject, Hideable {
  id: string;
  kind: Kind;
  account: string;
  /** The ids of the objects that it refers to. */
  links: string[];
  createdAt: number;
}

export class WalletService {
  readonly objects = new Shelf<WalletObject>(PROVIDER, ({ kind }) => ({
    state: kind === "issuance" || kind === "presentation" ? "initiated" : "created",
  }));
  readonly #parts: SandboxParts;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  create(
    operation: OperationName,
    given: Subject & Pick<WalletObject, "kind" | "links">,
    { username: account }: Account,
    at: number,
  ): WalletObject {
    const { ids, ledger } = this.#parts;
    const id = ids.uuid(`${PROVIDER}.${given.kind}`);
    const object: WalletObject = { ...given, id, account, createdAt: at };
    this.objects.add(object);
    const { intent } = object;
    ledger.record({ operation: `${PROVIDER}.${operation}`, intent, itemId: id, at, account });
    return object;
  }

  /** An object of this kind that the account may refer to; one that is missed at first counts as none. */
  find(kind: Kind, id: unknown, { username }: Account): WalletObject | undefined {
    const object = this.objects.get(id);
    if (object?.kind !== kind || object.account !== username) return undefined;
    return isVisible(object) ? object : undefined;
  }

  /** `linked`: the ids that the request refers to. Words of its own take the place of those of the step before. */
  subject(
    operation: OperationName,
    { body }: Pick<Arrival, "body">,
    linked: readonly unknown[],
  ): Subject {
    const { reference } = fieldsOf(body);
    const before =
      typeof reference === "string"
        ? this.objects.newestOf(reference)
        : linked.map((id) => this.objects.get(id)).find((object) => object !== undefined);
    const intent = typeof reference === "string" ? reference : (before?.intent ?? null);
    const magic = readRequestMagic(body);
    const key = magic ? magicKey(PROVIDER, operation, intent ?? body) : before?.magicKey;
    return {
      intent,
      ...(key !== undefined && { magicKey: key }),
      words: magic?.words ?? before?.words ?? [],
    };
  }

  describe(operation: OperationName, arrival: Arrival, linked: readonly unknown[]): Description {
    const { intent, magicKey: key } = this.subject(operation, arrival, linked);
    return { ...describeIntent(intent, key), magicFaults: readRequestMagic(arrival.body)?.faults };
  }
}
