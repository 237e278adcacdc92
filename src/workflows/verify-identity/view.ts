// Shows a video call: its state and outcome come from the newest answer, and callbacks appear only in the timeline (P1 §6.1).
import type { VideoSnapshot } from "../../activities/video-identification/index.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { View } from "../runtime/event-log.js";
import { plainView } from "../runtime/event-log.js";

export interface VideoView extends View {
  /** The provider's own verdict, where it is none that we know. */
  providerOutcome?: string;
}

const verdicts: ReadonlySet<string> = new Set(["verified", "notVerified"]);

export function videoView(events: ProviderEvent[], snapshot: VideoSnapshot | undefined): VideoView {
  const view = plainView(events);
  if (!snapshot) return view;
  const { state, isOver } = snapshot;
  return { ...view, state, closed: isOver, ...(isOver && ending(snapshot)) };
}

/** Without a verdict a call is closed, and never verified. */
function ending({ state, verdict }: VideoSnapshot): { outcome: string; providerOutcome?: string } {
  if (state === "rejected") return { outcome: "rejected" };
  if (verdict === undefined) return { outcome: "closed" };
  if (verdicts.has(verdict)) return { outcome: verdict };
  return { outcome: "other", providerOutcome: verdict };
}
