// `trustflow logs`: what all processes do, one line for an event.
import type { Command } from "commander";
import { addCommand } from "../command.js";
import { withTrustflow } from "../context.js";
import { failureOf } from "../output/exit.js";
import { writeData, writeFailure, writeJsonLine } from "../output/output.js";
import { timeAgo, timeHelp } from "../when.js";
import { addFilters } from "./filters.js";
import type { FilterOptions } from "./filters.js";
import { timelineLine } from "../processes/show.js";

interface LogsOptions extends Omit<FilterOptions, "reason"> {
  since?: Date;
  follow?: boolean;
  json?: boolean;
}

export function addLogs(program: Command): void {
  const command = addCommand(program, "logs", {
    summary: "show what all processes do, one line for each event",
    details: `Each line has the time, who did it (process, callback, query, person), the process and the event, in the order of the times.
It takes the filters of "trustflow list", as of the time of each look. With --json it prints JSON Lines.
It reads from Temporal and needs no worker. An event shows when its process has noted it, which may be a few seconds later.
With --follow, it looks every two seconds until SIGINT, also after an outage of Temporal.`,
    example: `trustflow logs --since 1h
trustflow logs --follow --process sendPostal
trustflow logs --since 2026-11-26T15:00:00Z --account branch --json`,
  })
    .option("--since <time>", `only events from this time on: ${timeHelp}; default: 1h`, timeAgo)
    .option("--follow", "go on with what happens from now on");
  addFilters(command, ["reason"]).action(logs);
}

async function logs({
  since = timeAgo("1h"),
  follow,
  json,
  ...filter
}: LogsOptions): Promise<void> {
  const { ProcessLog } = await import("./process-log.js");
  await withTrustflow(async ({ temporal }) => {
    const log = new ProcessLog(temporal, filter, since);
    const sayAway = (error: unknown) => writeFailure(failureOf(error), json);
    for await (const events of follow ? log.follow(sayAway) : [await log.next()])
      for (const event of events) {
        if (json) writeJsonLine(event);
        else writeData(timelineLine(event));
      }
  });
}
