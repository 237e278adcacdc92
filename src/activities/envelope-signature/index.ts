// The activities of the envelope-based one-shot signature, over its two hosts (P1 §1.5, 2.10, 4.5;
// docs/reading-the-specification.md §0, §7).
import { activitiesOf } from "../runtime/activity.js";
import { EnvelopeContext, provider } from "./context.js";
import type { EnvelopeDependencies } from "./context.js";
import { create, send, upload } from "./envelope.js";
import { prepare } from "./prepare.js";

export type { CertificateRequested, EnvelopeSent } from "./envelope.js";
export type { EnvelopePlan } from "./prepare.js";

export function createEnvelopeActivities(deps: EnvelopeDependencies) {
  const activity = activitiesOf(provider, deps, EnvelopeContext);
  return {
    prepare: activity("prepare", prepare),
    create: activity("create", create),
    upload: activity("upload", upload),
    send: activity("send", send),
  };
}
