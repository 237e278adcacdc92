// The activity of the messaging gateway (P1 §1.3, 4.3; docs/reading-the-specification.md §7).
import { activitiesOf } from "../runtime/activity.js";
import { MessagingContext, provider } from "./context.js";
import type { MessagingDependencies } from "./context.js";
import { send } from "./send.js";

export type { MessageSent } from "./send.js";

export function createMessagingActivities(deps: MessagingDependencies) {
  const activity = activitiesOf(provider, deps, MessagingContext);
  return { send: activity("send", send) };
}
