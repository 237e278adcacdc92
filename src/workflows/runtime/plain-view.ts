// The view of a process whose provider reports no state: it shows the callbacks, and nothing else.
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { TimelineEntry } from "../../contracts/shared/status.js";
import type { View } from "./event-log.js";

export function plainView(events: ProviderEvent[]): View {
  return { closed: false, resting: false, timeline: events.map(entryOf) };
}

export function entryOf({ at, kind, outcome, note, affidavit }: ProviderEvent): TimelineEntry {
  const event = outcome ? `${kind} (${outcome})` : kind;
  const text = affidavit ? (affidavit.name ?? affidavit.id) : note;
  return { at, source: "callback", event, ...(text ? { note: text } : {}) };
}
