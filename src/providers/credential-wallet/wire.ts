// The credential wallet as it travels (P1 §2.11, §4.6). The paths are shown, and the ids of the two services by name; no
// request or response is: every shape below is assumed.
import { z } from "zod";
import { ErrorCode } from "../errors/outside.js";
import { PathId, ProviderId } from "../../contracts/shared/values.js";
import type { WalletOperation } from "./effects.js";

/** P1 §4.6, as they are written there: the first one without a leading slash, in both flows. All are POST. */
export const paths = {
  createOperator: "api/v1/user/create/",
  createTemplate: "/credential/api/v1/template/create/",
  createIssuanceService: "/issuance/api/v1/service/create/",
  initIssuance: "/issuance/api/v1/{issuance_service_id}/init",
  createVerificationTemplate: "/credential/api/v1/verification/template/create/",
  createPresentationService: "/verification/api/v1/service/create/",
  initPresentation: "/verification/api/v1/{verification_service_id}/init",
} as const satisfies Record<WalletOperation, string>;

/** What the specification leaves open and this client assumes; all of it is configurable per account. */
export const assumed = {
  /** P1 §5.6: how the API Operator's token is carried; the prefix stands right before the token. */
  tokenHeader: "Authorization",
  tokenPrefix: "Bearer ",
  /** P1 §4.6: the one path without a leading slash is taken from the root of the host, as the others are. */
  paths: { createOperator: paths.createOperator },
  /** P1 §2.11: the names that the id of what was created may have; those of the two services are shown. */
  members: {
    operator: ["id"],
    template: ["id"],
    service: ["issuance_service_id", "id"],
    verificationTemplate: ["id"],
    verificationService: ["verification_service_id", "id"],
  },
  /** P1 §2.11: by which names a creation refers to what was created before. */
  sent: {
    template: "credential_template",
    operators: "operators",
    verificationTemplates: "verification_templates",
  },
  /** P1 §4.6: members of the answer of `init` that hold a secret. */
  secretMembers: ["token", "access_token", "api_token", "apiKey", "secret", "password"],
} as const;

/** What a creation answers the id of. */
export type Created = keyof typeof assumed.members;

/** Whether an id is a text or a number is not shown. */
const number = z.int().transform(String);

/** Under this name the client reads the id of what was created: no member of an answer can have it by chance. */
export const CREATED_ID = "the id";
/** P1 §2.11. What a later process could not be given is no id. */
export const CreatedAnswer = z.looseObject({ [CREATED_ID]: z.union([ProviderId, number]) });
/** P1 §4.6: its id stands in the path of `init`. */
export const CreatedService = z.looseObject({ [CREATED_ID]: z.union([PathId, number]) });

const Text = z.string().optional().catch(undefined);

/** P1 §7.3: not shown. */
export const ErrorAnswer = z.looseObject({
  code: ErrorCode,
  message: Text,
  detail: Text,
});
