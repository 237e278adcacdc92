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
