// Shows a signature request: its state comes from the newest answer, and callbacks appear only in the timeline (P1 §6.2 shows nothing).
import type { OneShotSnapshot } from "../../activities/one-shot-signature/index.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { View } from "../runtime/event-log.js";
import { plainView } from "../runtime/event-log.js";

export const oneShotEnds: ReadonlySet<string> = new Set(["signed", "failed", "cancelled"]);

/** A callback that names an end state; the service's answer confirms it. */
export function reportsEnd({ kind }: ProviderEvent): boolean {
  return oneShotEnds.has(kind);
}

export function oneShotView(events: ProviderEvent[], snapshot: OneShotSnapshot | undefined): View {
  const view = plainView(events);
  if (!snapshot) return view;
  const { state, about } = snapshot;
  // A video may have failed whose signer is approved all the same.
  return { ...view, state, closed: about !== "video" && oneShotEnds.has(state) };
}
