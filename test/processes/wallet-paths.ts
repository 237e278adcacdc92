// The paths that both processes of the credential wallet have (P1 §4.6; docs/reading-the-specification.md §0, §7).
import { expect } from "vitest";
import type { Made } from "../../src/contracts/shared/wallet.js";
import { Secret } from "../../src/contracts/shared/values.js";
import type { CredentialWalletAccount } from "../../src/providers/credential-wallet/client.js";
import {
  attentionOf,
  changePassword,
  decide,
  decided,
  ends,
  endsAs,
  isAbandonedWith,
  notAccepted,
  refusesInput,
  start,
} from "../harness/histories/path-run.js";
import { secretsOf } from "../harness/stack/account-secrets.js";
import type { Path, PathRun, Writing } from "../harness/histories/path-run.js";
import { accountAt } from "../providers/credential-wallet/account.js";
import { cancelled, refusedFor } from "./ways.js";

interface WalletInput {
  account?: string | undefined;
  operator?: Made | undefined;
  template?: Made | undefined;
  service: Made;
  init?: object | undefined;
}

interface Flow {
  process: "issueCredential" | "presentCredential";
  /** The operations, in their order. */
  operations: readonly string[];
  /** The id that `happened` of its service needs. */
  serviceId: string;
  /** The ids that its service is linked to, by their names in the references. */
  links: readonly string[];
  input(writing: Writing, words?: string): WalletInput;
  /** Creates at the provider what the process would create, in its order; by the members of the input. */
  existing(account: CredentialWalletAccount, fields: Fields): Promise<Record<string, string>>;
}

type Fields = Record<string, unknown>;

export const walletAccounts = ["access-mended", "cancelled-while-denied", "cancel-withdrawn"];

export function walletPaths(flow: Flow): Record<string, Path> {
  const { process: processName, operations, serviceId, links, input, existing } = flow;
  const service = operations.at(-2)!;
  const init = operations.at(-1)!;
  const begin = (run: PathRun, words = "", more: object = {}) =>
    start(run, processName, { ...input(run, words), ...more });

  /** The wallet refuses the last creation of the path's own account, until that is fixed. */
  async function denied(run: PathRun) {
    const { mend } = await refusedFor(run, `credential-wallet.${service}`, 401);
    const handle = await begin(run, "", { account: run.account });
    await attentionOf(handle, "accessDenied");
    return { handle, mend };
  }

  const cancelledDenied = cancelled(denied);
  const doubted = decided(begin, "unknownOutcome");
  const refused = decided(begin, "protocol");
  const once = Object.fromEntries(operations.map((name) => [`credential-wallet.${name}`, 1]));

  return {
    async initiated(run) {
      const { sandbox, client } = run.system;
      const { outcome, references, documents } = await (await begin(run)).result();
      expect([outcome, documents.map(({ kind }) => kind)]).toEqual(["initiated", ["answer"]]);
      const service = await sandbox.item(references[serviceId]!);
      expect(service["links"]).toEqual(links.map((name) => references[name]));
      // Where the holder goes on stands in the sealed document alone.
      const { url } = JSON.parse(String(await client.documents.get(documents[0]!.document)));
      run.author.secret("offer", url);
      expect(await run.system.effects(run.intent)).toEqual(once);
    },
    async "all-reused"(run) {
      const account = accountAt(run.system.stack.sandboxUrl, {
        apiToken: new Secret(secretsOf("sandbox", run.password).apiToken),
      });
      const ids = await existing(account, { reference: `${run.intent}-desk` });
      const given = Object.entries(ids).map(([name, id]) => [name, { id }]);
      const { references } = await (await begin(run, "", Object.fromEntries(given))).result();
      expect(Object.values(references)).toEqual(Object.values(ids));
      expect(await run.system.effects(run.intent)).toEqual({
        [`credential-wallet.${init}`]: 1,
      });
    },
    async "set-up"(run) {
      const { init: _, ...rest } = input(run);
      await ends(await start(run, processName, rest), "setUp");
    },
    "not-accepted": notAccepted(begin, "createOperator=reject-400", "credential-wallet"),
    "refused-later-retried": refused("createTemplate=reject-400", "retry", endsAs("initiated")),
    "refused-later-abandoned": refused(`${init}=reject-400`, "abandon", isAbandonedWith("exists")),
    "operator-retried": doubted("createOperator=cut", "retry", endsAs("initiated")),
    "operator-abandoned": doubted(
      "createOperator=cut-after-commit",
      "abandon",
      isAbandonedWith("unknown"),
    ),
    async "service-happened"(run) {
      const handle = await begin(run, `${service}=cut-after-commit`);
      await attentionOf(handle, "unknownOutcome");
      const { items } = await run.system.sandbox.items({ intent: run.intent });
      const ids = { [serviceId]: items.at(-1)!.id };
      await decide(run, handle, "unknownOutcome", "happened", ids);
      await ends(handle, "initiated");
    },
    "init-happened": doubted(`${init}=cut-after-commit`, "happened", endsAs("initiated")),
    async "access-mended"(run) {
      const mend = await changePassword(run);
      const handle = await begin(run, "", { account: run.account });
      await attentionOf(handle, "accessDenied");
      await mend();
      await ends(handle, "initiated");
    },
    "cancelled-while-denied": cancelledDenied("abandon", isAbandonedWith("exists")),
    "cancel-withdrawn": cancelledDenied("retry", endsAs("initiated")),
    "invalid-input": (run) => refusesInput(run, { ...input(run), service: {} }),
  };
}
