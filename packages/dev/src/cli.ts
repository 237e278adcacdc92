// The commands `trustflow dev`, `trustflow demo` and `trustflow rehearse`: the whole system on this machine, without set-up.
import { relative } from "node:path";
import type { Command } from "commander";
import type { ProcessName } from "trustflow/internal/contracts/registry.js";
import { shellWord } from "trustflow/internal/contracts/shared/text.js";
import type { Progress } from "./processes/tools.js";
import type { DemoReport } from "./demo/demo.js";
import type { EnvironmentFiles } from "./dev.js";
import type { Rehearsal, Rehearsed } from "./rehearse.js";
import type { Stack } from "./stack/stack.js";
import { addCommand, processArgument } from "trustflow/internal/cli/command.js";
import { webUiLists } from "trustflow/internal/temporal/visibility/web-ui.js";
import { exitCodes } from "trustflow/internal/cli/output/exit.js";
import {
  facts,
  table,
  writeData,
  writeJson,
  writeJsonLine,
  writeNote,
} from "trustflow/internal/cli/output/output.js";
import { linesOf, paint, terminal } from "trustflow/internal/cli/output/terminal.js";
import type { Terminal } from "trustflow/internal/cli/output/terminal.js";

interface DevOptions {
  directory?: string;
  reset?: boolean;
  config?: string;
  json?: boolean;
}

interface RehearseOptions {
  input: string;
  config?: string;
  json?: boolean;
}

const progress: Progress = (text) => writeNote(paint("dim", text, process.stderr));

export function addCommands(program: Command): void {
  addCommand(program, "dev", {
    summary: "run the whole system on this machine and reload it on change",
    details: `Runs Temporal with its Web UI, PostgreSQL, the sandbox, and every role. The state stays in .trustflow.
In another terminal, source .trustflow/client.env for most commands, and operator.env for doctor, callbacks and cleanup.
If trustflow.toml has accounts, dev uses them too; the sandbox's account is then named "sandbox".`,
    example: "trustflow dev\n. .trustflow/client.env && trustflow list",
  })
    .option("--directory <directory>", "folder for its state; default .trustflow")
    .option("--reset", "delete the state of Temporal, PostgreSQL and the sandbox first")
    .option("--config <file>", "configuration file; default trustflow.toml, if it exists")
    .action(async ({ json, ...options }: DevOptions) => {
      const { runDev } = await import("./dev.js");
      await runDev({
        ...options,
        progress,
        onReady: (stack, files) => sayReady(stack, files, json),
      });
    });

  addRehearse(program);

  addCommand(program, "demo", {
    summary: "run example processes through the whole system, with and without faults",
    details: `On a terminal the demo keeps running until Ctrl-C. Otherwise, or with --exit, it ends with 0 only if every
outcome and the sandbox's ledger are as expected.`,
    example: "trustflow demo --exit --json",
  })
    .option("--exit", "end when all processes have ended")
    .action(async ({ exit, json }: { exit?: boolean; json?: boolean }) => {
      const { runDemo } = await import("./demo/demo.js");
      const { interruption } = await import("./dev.js");
      const staysUp = !exit && process.stdout.isTTY && process.stdin.isTTY;
      const { ok } = await runDemo({
        progress,
        async onReport(report) {
          if (json) writeJson(report);
          else writeData(reportText(report));
          if (!staysUp) return;
          writeNote(terminal`Still running: ${report.temporalUi} (Ctrl-C ends it)`);
          await interruption();
        },
      });
      if (!ok) process.exitCode = exitCodes.failed;
    });
}

function addRehearse(program: Command): void {
  addCommand(program, "rehearse", {
    summary: "run your input against the sandbox, and kill the worker during each call",
    details: `Starts three whole systems with a sandbox each. Runs the process once without a crash, then once for each call to a provider and
each of three moments: before the provider acts, after it, and when the answer is in the database but not yet in Temporal (of the calls
that have an effect). Each time the worker is killed and started again. It enters the codes that a person is sent. It ends with 0 only if
each run came to the same outcome, or asks a person what nothing at the provider shows, and if no effect happened twice. A rehearsal
takes minutes. --config takes the settings of processes from your file, and nothing else: no account, no webhook.`,
    example: "trustflow rehearse sendPostal --input letter.json",
  })
    .addArgument(processArgument())
    .requiredOption("--input <file>", "JSON file with the input (comments are allowed)")
    .option("--config <file>", "configuration file; its settings of processes are used")
    .action(async (name: ProcessName, { json, ...given }: RehearseOptions) => {
      const { rehearse } = await import("./rehearse.js");
      const found = await rehearse({ ...given, process: name, progress });
      if (json) writeJson(found);
      else writeData(rehearsalText(found));
      if (!found.ok) process.exitCode = exitCodes.failed;
    });
}

function rehearsalText({ ok, outcome, points }: Rehearsal): Terminal {
  const endings = (ending: Rehearsed["ending"]) =>
    points.filter((point) => point.ending === ending).length;
  const [failed, missed, asks] = [endings("failed"), endings("notReached"), endings("asks")];
  const reached = points.length - missed;
  return linesOf([
    ...(failed === 0
      ? []
      : [
          table(
            ["CALL", "KILLED", "WHAT HAPPENED"],
            points
              .filter(({ ending }) => ending === "failed")
              .map(({ call, killed, told }) => [call, killed, told]),
          ),
        ]),
    facts([
      ["without a crash", outcome],
      ["the same outcome", `${endings("ended")} of ${reached} crashes`],
      ["asks a person", `${asks} of ${reached} crashes`],
      ...(missed > 0 ? [["not made again", `${missed} calls`] as [string, string]] : []),
      [
        "verdict",
        ok
          ? paint("green", `survived ${reached} of ${reached}, no effect twice`)
          : paint("red", `survived ${reached - failed} of ${reached}`),
      ],
    ]),
  ]);
}

function sayReady(stack: Stack, files: EnvironmentFiles, json: boolean | undefined): void {
  const { temporalUi, sandboxUrl: sandbox, receiverUrl: receiver, accounts } = stack;
  const lists = webUiLists(temporalUi, stack.temporal.namespace, new Date());
  if (json) {
    const { client: clientEnvironment, operator: operatorEnvironment } = files;
    const environments = { clientEnvironment, operatorEnvironment };
    const found = { temporalUi, webUiLists: lists, sandbox, receiver, accounts };
    writeJsonLine({ ready: "dev", ...found, ...environments });
    return;
  }
  writeData(
    facts([
      ["Web UI", temporalUi],
      ...Object.entries(lists).map(([name, url]): [string, string] => [`Web UI: ${name}`, url]),
      ["sandbox", sandbox],
      ["receiver", receiver],
      ...Object.entries(accounts).map(([name, at]): [string, string] => [`account ${name}`, at]),
      ["logs", relative("", stack.logDirectory)],
      ["for clients", `. ${shellWord(relative("", files.client))}`],
      ["for operators", `. ${shellWord(relative("", files.operator))}`],
    ]),
  );
  writeNote(terminal`Everything is running; Ctrl-C ends it.`);
}

function reportText({ ok, durationMs, temporalUi, scenarios, ledger }: DemoReport): Terminal {
  return linesOf([
    table(
      ["SCENARIO", "EXPECTED", "OUTCOME", "EFFECTS", "SECONDS", "WEB UI"],
      scenarios.map(({ scenario, expected, outcome, effects, durationMs: took, url }) => [
        scenario,
        expected,
        outcome,
        String(effects),
        (took / 1_000).toFixed(1),
        url,
      ]),
    ),
    facts([
      [
        "ledger",
        `${ledger.effects} effects, ${ledger.duplicates} duplicates, ${ledger.violations} violations`,
      ],
      ["Web UI", temporalUi],
      ["took", `${(durationMs / 1_000).toFixed(1)} s`],
      ["verdict", ok ? paint("green", "everything as expected") : paint("red", "NOT as expected")],
    ]),
  ]);
}
