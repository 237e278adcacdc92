// The activities of the one-shot signature service (P1 §1.4, 2.9, 4.4, 6.2; docs/reading-the-specification.md §0, §7).
import { SigningDesk } from "./context.js";
import type { OneShotDependencies } from "./context.js";
import { createVideo, decideVideo, uploadEvidences, uploadVideo } from "./identity-video.js";
import { create, prepare, upload } from "./request.js";
import { ask, contract, fetchSigned, resendOtp, sendOtp, sign } from "./signature.js";

export type { OneShotAccount, OneShotRequest } from "./context.js";
export type { OneShotPlan } from "./request.js";
export type { OneShotSnapshot } from "./signature.js";

const activities = {
  prepare,
  create,
  upload,
  createVideo,
  uploadEvidences,
  uploadVideo,
  decideVideo,
  contract,
  sendOtp,
  resendOtp,
  sign,
  ask,
  fetchSigned,
};

export type OneShotActivities = {
  [name in keyof typeof activities]: (
    given: Parameters<(typeof activities)[name]>[1],
  ) => ReturnType<(typeof activities)[name]>;
};

export function createOneShotActivities(dependencies: OneShotDependencies): OneShotActivities {
  const desk = new SigningDesk(dependencies);
  const bound = Object.entries(activities).map(([name, activity]) => [
    name,
    (given: never) => activity(desk, given),
  ]);
  return Object.fromEntries(bound) as OneShotActivities;
}
