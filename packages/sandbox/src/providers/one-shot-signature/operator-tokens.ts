// RA-operator tokens (P1 §5.4): the one that an account is configured with, and those that it created (shapes are assumed: not shown).
import { jsonAnswer } from "../../exchange/answer.js";
import type { Account } from "../../engine/accounts.js";
import { describeIntent } from "../../exchange/description.js";
import type { Operation } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { ROOT } from "./request-operation.js";

const nobody = () => describeIntent(null);

export class OperatorTokens {
  readonly #parts: SandboxParts;
  /** token → user name */
  #created = new Map<string, string>();

  constructor(parts: SandboxParts) {
    this.#parts = parts;
    parts.ledger.allowRepeats("one-shot-signature.createToken");
  }

  holder(token: string): Account | undefined {
    const { accounts } = this.#parts;
    return accounts.holding("token", token) ?? accounts.get(this.#created.get(token) ?? "");
  }

  operations(): Operation[] {
    const list: Operation = {
      name: "listTokens",
      route: `GET ${ROOT}/tokens`,
      describe: nobody,
      perform: ({ account }) => {
        const mine = [...this.#created].filter(([, username]) => username === account.username);
        const tokens = [account.token, ...mine.map(([token]) => token)];
        const shown = tokens.map((token) => ({ token: token.slice(-4) }));
        return jsonAnswer(200, shown);
      },
    };
    const create: Operation = {
      name: "createToken",
      route: `POST ${ROOT}/tokens`,
      describe: nobody,
      perform: ({ account: { username }, at }) => {
        const token = this.#parts.ids.uuid("one-shot-signature.token").replaceAll("-", "");
        this.#created.set(token, username);
        this.#parts.ledger.record({
          operation: "one-shot-signature.createToken",
          intent: null,
          itemId: token.slice(-4),
          at,
          account: username,
        });
        return jsonAnswer(200, { token });
      },
    };
    return [list, create];
  }

  save(): [string, string][] {
    return [...this.#created];
  }

  load(created: [string, string][]): void {
    this.#created = new Map(created);
  }

  clear(): void {
    this.#created.clear();
  }
}
