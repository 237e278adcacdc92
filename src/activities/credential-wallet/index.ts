// The activities of the credential wallet (P1 §1.6, §4.6; docs/reading-the-specification.md §0, §7).
import { activitiesOf } from "../runtime/activity.js";
import { WalletContext, provider } from "./context.js";
import type { WalletDependencies } from "./context.js";
import { prepareIssuance, preparePresentation } from "./prepare.js";
import * as setUp from "./set-up.js";

export type { FlowInitiated, WalletCall } from "./set-up.js";
export type { WalletPlan } from "./prepare.js";

export function createWalletActivities(deps: WalletDependencies) {
  const activity = activitiesOf(provider, deps, WalletContext);
  return {
    prepareIssuance: activity("prepare", prepareIssuance),
    preparePresentation: activity("prepare", preparePresentation),
    createOperator: activity("createOperator", setUp.createOperator),
    createTemplate: activity("createTemplate", setUp.createTemplate),
    createIssuanceService: activity("createIssuanceService", setUp.createIssuanceService),
    initIssuance: activity("initIssuance", setUp.initIssuance),
    createVerificationTemplate: activity(
      "createVerificationTemplate",
      setUp.createVerificationTemplate,
    ),
    createPresentationService: activity(
      "createPresentationService",
      setUp.createPresentationService,
    ),
    initPresentation: activity("initPresentation", setUp.initPresentation),
  };
}

export type WalletActivities = ReturnType<typeof createWalletActivities>;
