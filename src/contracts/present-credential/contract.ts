// `presentCredential` creates what a presentation needs, where it does not exist yet, and starts a flow (P1 §1.6, 2.11, 4.6).
import { z } from "zod";
import type { Rule } from "../shared/rules.js";
import { withRules } from "../shared/rules.js";
import { ProviderId } from "../shared/values.js";
import {
  Made,
  startsWhereServiceExists,
  walletFields,
  walletResult,
  whereCreated,
  whereExisting,
} from "../shared/wallet.js";

const PresentationFields = z.strictObject({
  ...walletFields,
  verificationTemplate: Made.optional()
    .describe(
      "The verification template, which states the attributes that must be presented: one that exists, or a new one (P1 §2.11).",
    )
    .meta({ examples: [{ providerFields: { name: "Is a member" } }] }),
  alsoLinked: z
    .strictObject({
      operatorIds: z
        .array(ProviderId)
        .max(100)
        .optional()
        .describe("The ids of further operators, which exist already."),
      verificationTemplateIds: z
        .array(ProviderId)
        .max(100)
        .optional()
        .describe("The ids of further verification templates, which exist already."),
    })
    .optional()
    .describe("What a new service is linked to beside the operator and the template (P1 §2.11)."),
});

const linksWhereCreated: Rule<{ service: Made; alsoLinked?: object | undefined }> = {
  reads: ["service", "alsoLinked"],
  check({ service, alsoLinked }, refuse) {
    if (service.id !== undefined && alsoLinked)
      refuse("alsoLinked", "must be left out: the service exists already, and is linked");
  },
};

export const PresentCredentialInput = withRules(PresentationFields, [
  startsWhereServiceExists,
  whereExisting("service", "operator", "template", "verificationTemplate"),
  whereCreated("service", "operator", "verificationTemplate"),
  whereCreated("verificationTemplate", "template"),
  whereExisting("verificationTemplate", "template"),
  linksWhereCreated,
]);
export type PresentCredentialInput = z.infer<typeof PresentCredentialInput>;

export const PresentCredentialResult = walletResult("presentCredential");
export type PresentCredentialResult = z.infer<typeof PresentCredentialResult>;
