// `trustflow doctor`: checks whether this configuration works from this machine. It shows names and key ids, never a secret.
import type { Command } from "commander";
import { addCommand } from "./command.js";
import type { Checked } from "./doctor/check.js";
import { exitCodes } from "./output/exit.js";
import { writeAnswer } from "./output/output.js";
import { linesOf, padded, paint, terminal } from "./output/terminal.js";
import type { Terminal } from "./output/terminal.js";
import { widthOf } from "./output/wrap.js";

const labels = {
  ok: ["ok  ", "green"],
  warn: ["warn", "yellow"],
  fail: ["FAIL", "red"],
  skip: ["skip", "dim"],
} as const;

export function addDoctor(program: Command): void {
  addCommand(program, "doctor", {
    summary: "check the configuration and everything it refers to",
    details: `Shows each problem and how to fix it. Ends with 4 if a check fails; with warnings only, it ends with 0.
A check that was not done has its own line with the reason.
Changes nothing: the doctor calls each provider without an effect and sends the receiver only requests that it refuses.
Shows no secret.
Run it with the settings of commands: a role alone lacks keys that others have, and the doctor ends with 4. Run it with --client where an
application runs that starts processes: it then checks only what the client library needs.`,
    example: "trustflow doctor\ntrustflow doctor --client",
  })
    .option(
      "--client",
      "check the machine of an application: Temporal, namespace, keys, search attributes; no database, no accounts",
    )
    .action(async ({ client, json }: { client?: boolean; json?: boolean }) => {
      const { examine, examineClient } = await import("./doctor/examine.js");
      const checks = await (client ? examineClient() : examine());
      const ok = checks.every(({ state }) => state !== "fail");
      const known = checks.find(({ check, state }) => check === "environment" && state === "ok");
      writeAnswer(json, { ok, environment: known?.detail, checks }, checkLines(checks));
      if (!ok) process.exitCode = exitCodes.unreachable;
    });
}

export function checkLines(checks: readonly Checked[]): Terminal {
  return linesOf(checks.map(lineWith(checks)));
}

/** On a narrow terminal the detail stands below the name of its check. */
function lineWith(all: readonly Checked[]): (checked: Checked) => Terminal {
  const width = Math.max(...all.map(({ check }) => check.length));
  const isNarrow = width > widthOf(process.stdout) / 3;
  return ({ check, state, finding, detail, mend }) => {
    const [label, colour] = labels[state];
    const begin = terminal`${paint(colour, padded(label, 4))}  ${padded(check, isNarrow ? 0 : width)}`;
    const line = isNarrow ? terminal`${begin}\n      ${detail}` : terminal`${begin}  ${detail}`;
    return mend === undefined ? line : terminal`${line}\n      ${finding ?? ""}: ${mend}`;
  };
}
