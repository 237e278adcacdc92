// Lists the activities of the one-shot signature service (P1 §1.4, 2.9, 4.4, 6.2; docs/reading-the-specification.md §0, §7).
import { activitiesOf } from "../runtime/activity.js";
import { OneShotContext, provider } from "./context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";
import { deleteDocuments } from "./deletion.js";
import {
  createVideo,
  decideVideo,
  decisionOperation,
  updateVideo,
  uploadEvidences,
  uploadVideo,
} from "./identity-video.js";
import { create, prepare, upload, uploadOperation } from "./request.js";
import { ask, contract, fetchSigned, resendOtp, sendOtp, sign } from "./signature.js";

export type { OneShotRequest } from "./context.js";
export type { OneShotPlan } from "./request.js";
export type { OneShotSnapshot } from "./signature.js";

export function createOneShotActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, OneShotContext);
  return {
    prepare: activity("prepare", prepare),
    create: activity("create", create),
    upload: activity(uploadOperation, upload),
    createVideo: activity("createVideo", createVideo),
    uploadEvidences: activity("uploadEvidences", uploadEvidences),
    uploadVideo: activity("uploadVideo", uploadVideo),
    decideVideo: activity(decisionOperation, decideVideo),
    updateVideo: activity("updateVideo", updateVideo),
    contract: activity("contract", contract),
    sendOtp: activity("otp", sendOtp),
    resendOtp: activity("otp", resendOtp),
    sign: activity("sign", sign),
    ask: activity(({ about }) => (about === "video" ? "getVideo" : "retrieve"), ask),
    fetchSigned: activity("retrieve", fetchSigned),
    deleteDocuments: activity("deleteDocuments", deleteDocuments),
  };
}

export type OneShotActivities = ReturnType<typeof createOneShotActivities>;
