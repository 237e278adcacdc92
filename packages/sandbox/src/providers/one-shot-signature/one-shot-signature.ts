// The one-shot service as a provider of the sandbox, and what the control API may do with its requests (P1 §1.4, 4.4, 5.4).
import { tokenAdmission } from "../../exchange/credentials.js";
import { keeping } from "../../exchange/kept.js";
import type { SandboxProvider, Operation } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { documentOperations } from "./document-operations.js";
import { identityVideoOperations } from "./identity-video.js";
import { refusal } from "../../exchange/refusal.js";
import { requestOperations } from "./request-operations.js";
import { PROVIDER, SigningService, states } from "./signing-service.js";
import type { SignatureRequest } from "./signing-service.js";
import { jsonAnswer } from "../../exchange/answer.js";
import type { Account } from "../../engine/accounts.js";
import { describeIntent } from "../../exchange/description.js";
import { ROOT } from "./request-operation.js";

export function oneShotSignature(parts: SandboxParts): SandboxProvider {
  const signing = new SigningService(parts);
  const { requests } = signing;
  const tokens = new OperatorTokens(parts);

  return {
    name: PROVIDER,
    operations: [
      ...tokens.operations(),
      ...requestOperations(signing),
      ...documentOperations(signing),
      ...identityVideoOperations(signing),
    ],
    hasCallbacks: true,
    authenticate: (arrival) =>
      tokenAdmission(arrival, parts.options.oneShotToken, (token) => tokens.holder(token)),
    refuse: (status, code, message) => refusal(status, String(code), message),
    kept: keeping({ requests, tokens }),
    move(id, { state }) {
      const request = requests.get(id);
      if (!request) return undefined;
      if (!(states as readonly string[]).includes(state))
        return `state: must be one of ${states.join(", ")}`;
      signing.enter(request, state as SignatureRequest["state"], parts.clock.now());
      return requests.view(request);
    },
  };
}

const nobody = () => describeIntent(null);

class OperatorTokens {
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
