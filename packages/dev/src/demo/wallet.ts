// The demo's credentials: one is issued with all that it needs, one is presented at a service that exists already (P1 §1.6, 4.6).
import type { PresentCredentialInput } from "trustflow-client";
import type { Scenario } from "./scenario.js";

const named = (intent: string, name: string) => ({ providerFields: { reference: intent, name } });

function entrance(intent: string): PresentCredentialInput {
  return {
    operator: named(intent, "Front desk"),
    template: named(intent, "Membership"),
    verificationTemplate: named(intent, "Is a member"),
    service: named(intent, "Entrance"),
  };
}

export const walletScenarios: Scenario[] = [
  {
    process: "issueCredential",
    name: "credential-issued",
    title: "A wallet credential, with its operator, template and service",
    expected: "initiated",
    effect: "credential-wallet.initIssuance",
    async play({ client }, intent) {
      const handle = await client.issueCredential("credential-issued", {
        operator: named(intent, "Issuing desk"),
        template: named(intent, "Membership"),
        service: named(intent, "Membership cards"),
        init: named(intent, "Ada Byron"),
      });
      return { handle };
    },
  },
  {
    process: "presentCredential",
    name: "credential-presented",
    title: "A wallet credential is presented; its service exists already",
    expected: "initiated",
    effect: "credential-wallet.initPresentation",
    async play({ client }, intent) {
      const setUp = await client.presentCredential("entrance", entrance(intent));
      const { references } = await setUp.result();
      const handle = await client.presentCredential("credential-presented", {
        service: { id: references["verificationServiceId"] ?? "" },
        init: named(intent, "Ada Byron"),
      });
      return { handle };
    },
  },
];
