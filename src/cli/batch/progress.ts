// The commands of every process show this of a batch of notices.
import { batchOf, count, totalsLine } from "../../contracts/send-notice-batch/progress-line.js";
import type { ProcessStatus } from "../../contracts/shared/status.js";

export { bar, BatchProgressLine, count } from "../../contracts/send-notice-batch/progress-line.js";

/** The lines that the status of a batch has beside those of every process. */
export function batchFacts(status: ProcessStatus): [string, string | undefined][] {
  const { list, progress, totals } = batchOf(status);
  return [
    ["recipients", list && count(list.recipients)],
    ["left out", list && list.invalidRows > 0 ? count(list.invalidRows) : undefined],
    ["problems", list?.problemsCsv?.uri],
    ["sent", progress?.sentCount === undefined ? undefined : count(progress.sentCount)],
    ["failed", progress?.failedCount === undefined ? undefined : count(progress.failedCount)],
    ["notices", totals && list && totalsLine(totals.states, list.recipients)],
  ];
}
