// A member that the process sets itself is refused before anything is created; which one it is, the account says (P1 §2.11).
import { expect, test } from "vitest";
import { createWalletActivities } from "../../../src/activities/credential-wallet/index.js";
import { issuanceInput } from "../../processes/issue-credential/inputs.js";
import { presentationInput } from "../../processes/present-credential/inputs.js";
import { accountAt } from "../../providers/credential-wallet/account.js";
import { inAttempt } from "../attempts.js";

const account = accountAt("http://127.0.0.1:9");
const { template, operators } = account.sent;
let hasBegun = false;
const activities = createWalletActivities({
  ...{ environmentOf: () => "sandbox", patienceMs: 1, unavailableForMs: 1_000 },
  journal: { mayHaveEffect: async () => hasBegun },
  ...{ accounts: { default: account }, secrets: { open: (text: string) => text } },
} as never);
const mode = "quick" as const;

test.each([
  ["issueCredential", template],
  ["presentCredential", operators],
] as const)("%s: %s", async (process, member) => {
  const service = { providerFields: { reference: "own", [member.toLowerCase()]: "mine" } };
  const prepared = () =>
    process === "issueCredential"
      ? activities.prepareIssuance({ input: { ...issuanceInput("own"), service }, mode })
      : activities.preparePresentation({ input: { ...presentationInput("own"), service }, mode });
  await expect(inAttempt(prepared)).rejects.toMatchObject({
    type: "InvalidInput",
    details: [{ fields: [{ path: `service.providerFields.${member.toLowerCase()}` }] }],
  });
  hasBegun = true;
  await expect(inAttempt(prepared)).rejects.toMatchObject({ type: "accessDenied" });
  hasBegun = false;
});
