// The look-up of a letter by our own key, at providers that differ in what the specification does not show (P2 §4.1 Query).
import { expect, test } from "vitest";
import { EviPostContext } from "../../../src/activities/evi-post/context.js";
import { submissionOf } from "../../../src/activities/evi-post/submit.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { submit } from "../../../src/providers/evi-post/client.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { letterInput, letterPdf } from "../../processes/send-postal/inputs.js";
import { accountAt } from "../../providers/evi-post/account.js";
import { depsWithoutRows, inProcess } from "../attempts.js";

test.each([
  ["parts", "order-7", true],
  ["whole", "order-7", false],
  ["whole", undefined, true],
] as const)(
  "where a query compares %s of a joined key, a letter with the lookup key %s is found: %s",
  async (lookupKeyMatching, lookupKey, isFound) => {
    const sandbox = await startSandbox({ speed: "manual", lookupKeyMatching });
    const login = { username: "sandbox", password: new Secret("sandbox") };
    const account = accountAt(sandbox.url, login);
    const callback = { url: "https://example.com/callbacks/1", correlation: "c" };
    const input = letterInput("order-7", "delivered", { lookupKey });
    const { uniqueId } = await submit(
      account,
      submissionOf(input, letterPdf, "ours", callback, account),
      "token",
    );
    const about = { account: "default", mode: "quick" } as const;
    const context = () => new EviPostContext("evi-post", depsWithoutRows(account), about);
    const found = await inProcess(() => context().itemByOwnKey("ours"));
    expect(found).toEqual(isFound ? expect.objectContaining({ uniqueId }) : undefined);
    await sandbox.close();
  },
);
