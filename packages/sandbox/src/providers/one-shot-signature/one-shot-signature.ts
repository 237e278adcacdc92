// The one-shot service as a provider of the sandbox, and what the control API may do with its requests (P1 §1.4, 4.4, 5.4).
import { tokenAdmission } from "../../exchange/credentials.js";
import { keeping } from "../../exchange/kept.js";
import type { Call, Operation, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { documentOperations } from "./document-operations.js";
import { identityVideoOperations } from "./identity-video.js";
import { refusal } from "../../exchange/refusal.js";
import { requestOperations } from "./request-operations.js";
import { PROVIDER, SigningService, states } from "./signing-service.js";
import type { SignatureRequest } from "./signing-service.js";
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import type { Account } from "../../engine/accounts.js";
import { describeIntent } from "../../exchange/description.js";
import { ROOT } from "./request-operation.js";

export function oneShotSignature(parts: SandboxParts): SandboxProvider {
  const signing = new SigningService(parts);
  const { requests } = signing;
  const tokens = operatorTokens(parts);

  return {
    name: PROVIDER,
    operations: [
      ...tokens.operations,
      ...requestOperations(signing),
      ...documentOperations(signing),
      ...identityVideoOperations(signing),
    ],
    hasCallbacks: true,
    authenticate: (arrival) => tokenAdmission(arrival, parts.options.oneShotToken, tokens.holder),
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

function operatorTokens({ accounts, ids, ledger }: SandboxParts) {
  /** token → user name */
  const created = new Map<string, string>();
  ledger.allowRepeats(`${PROVIDER}.createToken`);

  function list({ account }: Call): Answer {
    const mine = [...created].filter(([, username]) => username === account.username);
    const tokens = [account.token, ...mine.map(([token]) => token)];
    return jsonAnswer(
      200,
      tokens.map((token) => ({ token: token.slice(-4) })),
    );
  }

  function create({ account: { username: account }, operation, at }: Call): Answer {
    const token = ids.uuid(`${PROVIDER}.token`).replaceAll("-", "");
    created.set(token, account);
    ledger.record({ operation, intent: null, itemId: token.slice(-4), at, account });
    return jsonAnswer(200, { token });
  }

  const operations: Operation[] = [
    { name: "listTokens", route: `GET ${ROOT}/tokens`, describe: nobody, perform: list },
    { name: "createToken", route: `POST ${ROOT}/tokens`, describe: nobody, perform: create },
  ];
  return {
    operations,
    holder: (token: string): Account | undefined =>
      accounts.holding("token", token) ?? accounts.get(created.get(token) ?? ""),
    save: () => [...created],
    load(saved: [string, string][]): void {
      created.clear();
      for (const [token, username] of saved) created.set(token, username);
    },
    clear: () => created.clear(),
  };
}
