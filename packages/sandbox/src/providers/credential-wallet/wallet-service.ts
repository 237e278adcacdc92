// The objects of the wallet: found by id, seen by their own account alone, and brought together by intent.
import type { Account } from "../../engine/accounts.js";
import type { SandboxParts } from "../../engine/parts.js";
import { isVisible } from "../../engine/visibility.js";
import { fieldsOf } from "../../exchange/checker.js";
import { describeIntent } from "../../exchange/description.js";
import { magicKey } from "../../exchange/magic.js";
import type { Arrival, Description } from "../../exchange/operation.js";
import { PROVIDER, readRequestMagic, type OperationName } from "./magic.js";
import type { Kind, Subject, WalletObject } from "./wallet-object.js";

export class WalletService {
  readonly parts: SandboxParts;
  readonly #objects = new Map<string, WalletObject>();
  readonly #newest = new Map<string, WalletObject>();

  constructor(parts: SandboxParts) {
    this.parts = parts;
  }

  create(
    operation: OperationName,
    given: Subject & Pick<WalletObject, "kind" | "links">,
    { username }: Account,
    at: number,
  ): WalletObject {
    const id = this.parts.ids.uuid(`${PROVIDER}.${given.kind}`);
    const object: WalletObject = { ...given, id, account: username, createdAt: at };
    this.#add(object);
    this.parts.ledger.record({
      operation: `${PROVIDER}.${operation}`,
      intent: object.intent,
      itemId: id,
      at: new Date(at).toISOString(),
      account: username,
    });
    this.parts.changed();
    return object;
  }

  /** An object of this kind that the account may refer to; one that is missed at first counts as none. */
  find(kind: Kind, id: unknown, { username }: Account): WalletObject | undefined {
    const object = typeof id === "string" ? this.#objects.get(id) : undefined;
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
      typeof reference === "string" ? this.#newest.get(reference) : this.#first(linked);
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

  /** The token of a new operator: a secret, which no operation of the sandbox takes. */
  tokenOf(operatorId: string): string {
    return `${operatorId.replaceAll("-", "")}-token`;
  }

  get(id: string): WalletObject | undefined {
    return this.#objects.get(id);
  }

  all(): Iterable<WalletObject> {
    return this.#objects.values();
  }

  save(): WalletObject[] {
    return [...this.all()];
  }

  load(objects: WalletObject[]): void {
    this.clear();
    for (const object of objects) this.#add(object);
  }

  clear(): void {
    this.#objects.clear();
    this.#newest.clear();
  }

  #add(object: WalletObject): void {
    this.#objects.set(object.id, object);
    if (object.intent !== null) this.#newest.set(object.intent, object);
  }

  #first(ids: readonly unknown[]): WalletObject | undefined {
    const objects = ids.map((id) => (typeof id === "string" ? this.#objects.get(id) : undefined));
    return objects.find((object) => object !== undefined);
  }
}
