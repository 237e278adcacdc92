// `trustflow replay`: shows before an upgrade whether the histories of open processes replay with this release.
import { Option, type Command } from "commander";
import type { ReplayWorkerOptions } from "@temporalio/worker";
import type { Replayed } from "../../cleanup/replay.js";
import type { Config } from "../../config/config.js";
import { payloadKeys, refusedPayloads } from "../../config/payload-keys.js";
import { processes } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import { loadWithAccounts } from "../../providers/accounts.js";
import { requireTemporal } from "../../roles/temporal.js";
import { addCommand, severalOf, wholeNumber } from "../command.js";
import { exitCodes } from "../output/exit.js";
import { facts, writeData, writeJson } from "../output/output.js";

interface ReplayFlags {
  process?: ProcessName[];
  limit: number;
  json?: boolean;
}

export function addReplay(program: Command): void {
  addCommand(program, "replay", {
    summary: "check that this release goes on with the open processes",
    details: `Replays the histories of open processes with the workflows of this release, the newest of each process first. It
changes nothing and needs no worker. Run it with a new release before its workers start. Ends with 1 if a history
does not replay: such a process would be stuck.`,
    example: "trustflow replay --limit 1000",
  })
    .addOption(
      severalOf("--process <name>", "only processes of this name; may be repeated", processes),
    )
    .addOption(
      new Option("--limit <n>", "at most so many of each process")
        .argParser(wholeNumber(1))
        .default(100),
    )
    .action(replay);
}

async function replay({ process: names, limit, json }: ReplayFlags): Promise<void> {
  const config = loadWithAccounts();
  await requireTemporal();
  const { connectClient } = await import("../../temporal/connection.js");
  const { replayOpen } = await import("../../cleanup/replay.js");
  const { client, close } = await connectClient(payloadKeys(config).ring);
  const all: Replayed[] = [];
  try {
    const options = await replayOptions(config);
    for await (const one of replayOpen(client, options, names ?? processes, limit)) all.push(one);
  } finally {
    await close();
  }
  const problems = all.filter(({ problem }) => problem !== undefined);
  if (json) writeJson({ replayed: all.length - problems.length, problems });
  else
    writeData(
      facts([
        ["replayed", String(all.length - problems.length)],
        ...problems.map(({ id, problem }): [string, string] => [
          "does not replay",
          `${id}: ${problem}`,
        ]),
      ]),
    );
  if (problems.length > 0) process.exitCode = exitCodes.failed;
}

/** The worker's workflows and the codec of their payloads, to replay histories. */
export async function replayOptions(config: Config): Promise<ReplayWorkerOptions> {
  const { workflowSource } = await import("../../worker.js");
  const { workerConverters } = await import("../../temporal/codec/data-converter.js");
  const { installRuntime } = await import("../../temporal/logging.js");
  // A failed replay is told by the command, so it is not logged.
  installRuntime({ level: "ERROR", logTo: { write: () => undefined } });
  const { workflows } = workerConverters(payloadKeys(config), refusedPayloads(config));
  return { ...workflowSource(), dataConverter: workflows };
}
