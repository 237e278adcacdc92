// `trustflow replay`: shows before an upgrade whether the histories of open processes replay with this release.
import type { Command } from "commander";
import type { ReplayWorkerOptions } from "@temporalio/worker";
import type { Replays } from "../../cleanup/replay.js";
import type { Config } from "../../config/config.js";
import { payloadKeys, refusedPayloads } from "../../config/payload-keys.js";
import { processes } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import { loadWithAccounts } from "../../providers/accounts.js";
import { requireTemporal } from "../../roles/temporal.js";
import { addCommand, severalOf, wholeNumber } from "../command.js";
import { exitCodes } from "../output/exit.js";
import { facts, writeAnswer } from "../output/output.js";

interface ReplayFlags {
  process?: ProcessName[];
  limit: number;
  json?: boolean;
}

export function addReplay(program: Command): void {
  addCommand(program, "replay", {
    summary: "check that this release goes on with the open processes",
    details: `Replays the histories of the newest open processes of each name with the workflows of this release, and counts those
that it did not check. It changes nothing and needs no worker. Run it with a new release before its workers start. Ends with
1 if a history does not replay: such a process would be stuck.`,
    example: "trustflow replay --limit 1000",
  })
    .addOption(
      severalOf("--process <name>", "only processes of this name; may be repeated", processes),
    )
    .option("--limit <n>", "at most so many of each process", wholeNumber(1), 100)
    .action(replay);
}

async function replay({
  process: names = [...processes],
  limit,
  json,
}: ReplayFlags): Promise<void> {
  const config = loadWithAccounts();
  await requireTemporal();
  const { connectClient } = await import("../../temporal/connection.js");
  const { replayOpen } = await import("../../cleanup/replay.js");
  const { client, close } = await connectClient(payloadKeys(config).ring);
  try {
    show(await replayOpen(client, await replayOptions(config), names, limit), json);
  } finally {
    await close();
  }
}

export function show(replays: Replays, json = false): void {
  const { replayed, problems, notChecked } = replays;
  const text = facts([
    ["replayed", String(replayed)],
    ["not checked", String(notChecked)],
    ...problems.map(({ id, problem }): [string, string] => ["problem", `${id}: ${problem}`]),
  ]);
  writeAnswer(json, replays, text);
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
