// `trustflow release`: gives the open processes to the workers of this release, some first (docs/operations/upgrade.md).
import type { Command } from "commander";
import { randomUUID } from "node:crypto";
import type { Ramped, Release } from "../../cleanup/release.js";
import type { Trustflow } from "../../client.js";
import { required } from "../../config/config.js";
import { environmentsOf } from "../../config/environment.js";
import { contractOf, processes } from "../../contracts/registry.js";
import { type ConfigWithAccounts, loadWithAccounts } from "../../providers/accounts.js";
import { grpcOf, status } from "../../temporal/grpc-status.js";
import { addCommand, collect, parseProcessName, wholeNumber } from "../command.js";
import { withTrustflow } from "../context.js";
import { readStartInput, withStoredFiles } from "../processes/start-input.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import { terminal } from "../output/terminal.js";
import { facts, writeAnswer, writeNote } from "../output/output.js";
import { replayOptions, show } from "./replay.js";

const GATE_MS = 600_000;

interface ReleaseFlags {
  gate: string[];
  percentage: number;
  watchSeconds: number;
  limit: number;
  json?: boolean;
}

export function addRelease(program: Command): void {
  addCommand(program, "release", {
    summary: "give the open processes to versioned workers of this release, some first",
    details: `For workers with worker.deployment. Start those of the new release beside the old ones, then run this command of the new
release. It replays open processes, runs each --gate with the new workers alone, lets some open processes go on with them, watches,
and does the same with all. If a process gets stuck meanwhile, or no new worker polls, all go back to the old workers: keep
these until the command has ended. Where it was cut off, run it again. Ends with 1 if a history does not replay, a gate fails, or
the release was taken back.`,
    example: "trustflow release --percentage 10 --watch-seconds 1800",
  })
    .option(
      "--gate <process=file>",
      "an input of an account of the sandbox, with which the process completes by itself, within ten minutes; may be repeated",
      collect,
      [],
    )
    .option("--percentage <n>", "so many of a hundred processes at first", wholeNumber(1, 100), 5)
    .option("--watch-seconds <n>", "how long some are watched, and then all", wholeNumber(1), 600)
    .option("--limit <n>", "replay at most so many of each process", wholeNumber(1), 100)
    .action(release);
}

async function release({ percentage, watchSeconds, limit, gate, json }: ReleaseFlags) {
  const config = loadWithAccounts();
  const deploymentName = required(config.worker.deployment, "worker.deployment");
  const watchMs = watchSeconds * 1_000;
  const gates = await Promise.all(gate.map((text) => readGate(config, text)));
  const { replayOpen } = await import("../../cleanup/replay.js");
  const { isPolled, rampRelease, takeBackCutOff } = await import("../../cleanup/release.js");
  const { releaseBuildId } = await import("../../worker.js");
  const version = { deploymentName, buildId: releaseBuildId() };
  await withTrustflow(async (trustflow) => {
    const { connection, options } = trustflow.temporal;
    const where = { connection, namespace: options.namespace };
    const cutOff = await takeBackCutOff(where, version).catch(refused);
    if (cutOff && cutOff.stuck.length > 0)
      return tell({ state: cutOff.state, stuck: cutOff.stuck });
    if (!(await isPolled(where, version))) return tell({ state: "absent" });
    const replay = await replayOptions(config);
    const replays = await replayOpen(trustflow.temporal, replay, processes, limit);
    if (replays.problems.length > 0) return show(replays, json);
    for (const pass of gates) await pass(trustflow, version);
    const say = (line: string) => writeNote(terminal`${line}`);
    if (replays.notChecked > 0)
      say(`${replays.notChecked} open processes were not replayed: see --limit`);
    const ramping = { percentage, watchMs, since: cutOff?.since, say };
    const ramped = await rampRelease(where, version, ramping).catch(refused);
    tell(ramped);
  });

  function tell(answer: Ramped): void {
    const text = facts(lines(version.buildId, answer));
    writeAnswer(json, { buildId: version.buildId, ...answer }, text);
    if (answer.state !== "current") process.exitCode = exitCodes.failed;
  }
}

const states = {
  current: "current",
  takenBack: "taken back",
  stuck: "some are stuck; none goes back, because the release begins a generation: repair it",
  absent:
    "no worker of this release polls: start some with worker.deployment, then run this command again",
};

/** By Temporal: another operator changes the deployment, or workers are missing. */
function refused(error: unknown): never {
  const { code, details } = grpcOf(error);
  if (code !== status.failedPrecondition) throw error;
  throw new CommandError(exitCodes.failed, `Temporal refuses the change: ${details}`);
}

type Gate = (trustflow: Trustflow, version: Release) => Promise<void>;

/** One process that only workers of the release run. It never reaches a real provider. */
async function readGate(config: ConfigWithAccounts, text: string): Promise<Gate> {
  const [given = "", file = ""] = text.split(/=(.*)/s);
  const name = parseProcessName(given);
  const id = `gate-${randomUUID()}`;
  const read = await readStartInput<{ account?: string | undefined }>(
    contractOf(name).input,
    file,
    id,
  );
  const { account = "default" } = read.checked;
  if (environmentsOf(config)(account) !== "sandbox")
    throw usageError(`--gate ${text}: the account "${account}" is not one of the sandbox`);
  return async (trustflow, version) => {
    const input = await withStoredFiles(read, () => trustflow.documents);
    const handle = await trustflow.start(name, id, input, {
      versioningOverride: { pinnedTo: version },
    });
    await handle.result({ timeoutMs: GATE_MS }).catch(async (error: unknown) => {
      // Only workers of the release could go on with it.
      const open = trustflow.temporal.workflow.getHandle(handle.workflowId);
      await open.terminate("a gate that did not end").catch(() => undefined);
      const why = error instanceof Error ? error.message : String(error);
      throw new CommandError(exitCodes.failed, `The gate ${handle.workflowId} did not end: ${why}`);
    });
  };
}

function lines(buildId: string, answer: Ramped): [string, string][] {
  const stuck = "stuck" in answer ? answer.stuck : [];
  const isLeft = answer.state === "takenBack" && stuck.length === 0;
  return [
    ["build id", buildId],
    ["state", isLeft ? "taken back: its workers poll no more" : states[answer.state]],
    ...stuck.map((id): [string, string] => ["stuck", id]),
  ];
}
