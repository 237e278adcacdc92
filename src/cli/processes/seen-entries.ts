// Which entries of a timeline are new: entries arrive in whatever order, and equal entries count separately.
import type { TimelineEntry } from "../../contracts/shared/status.js";

export class SeenEntries {
  readonly #seen = new Map<string, number>();

  /** Entries that were not seen before; they count as seen from now on. */
  take(timeline: TimelineEntry[]): TimelineEntry[] {
    const found = this.#unseen(timeline);
    for (const entry of found) {
      const key = JSON.stringify(entry);
      this.#seen.set(key, (this.#seen.get(key) ?? 0) + 1);
    }
    return found;
  }

  /** How many entries are seen once these are. */
  countWith(timeline: TimelineEntry[]): number {
    const seen = [...this.#seen.values()].reduce((sum, count) => sum + count, 0);
    return seen + this.#unseen(timeline).length;
  }

  #unseen(timeline: TimelineEntry[]): TimelineEntry[] {
    const now = new Map<string, number>();
    return timeline.filter((entry) => {
      const key = JSON.stringify(entry);
      const count = (now.get(key) ?? 0) + 1;
      now.set(key, count);
      return count > (this.#seen.get(key) ?? 0);
    });
  }
}
