// `trustflow sandbox fault|faults|clear-faults`.
import { type Command, Option } from "commander";
import {
  callbackFaultKinds,
  type FaultOptions,
  requestFaultKinds,
} from "../../sandbox/engine/faults.js";
import { wholeNumber } from "../command.js";
import { table } from "../output/output.js";
import { addSandboxCommand } from "./sandbox-command.js";

export function addSandboxFaults(sandbox: Command): void {
  addSandboxCommand(
    sandbox,
    "faults",
    { summary: "the faults that are set", example: "trustflow sandbox faults" },
    (control) => control.faults(),
    (faults) =>
      table(
        ["ID", "OPERATION", "KIND", "CALL", "TIMES", "SEEN", "FIRED"],
        faults.map(({ id, operation, kind, call = 1, times = 1, seen, fired }) =>
          [id, operation, kind, call, times, seen, fired].map(String),
        ),
      ),
  );
  addSandboxCommand<Omit<FaultOptions, "operation">, unknown>(
    sandbox,
    "fault <operation>",
    {
      summary: "set a fault",
      details:
        "The operation is for example evi-post.submit, evi-post.query, evi-post.callback, evi-post.* or *.",
      example: "trustflow sandbox fault evi-post.submit --kind cut-after-commit --call 1",
    },
    (control, options, operation) => control.addFault({ ...options, operation }),
  )
    .addOption(
      new Option("--kind <kind>", "what happens")
        .choices([...requestFaultKinds, ...callbackFaultKinds])
        .makeOptionMandatory(),
    )
    .option("--call <n>", "the first matching call that it hits", wholeNumber(1))
    .option("--times <n>", "how many calls from there, or always", (text) =>
      text === "always" ? text : wholeNumber(1)(text),
    )
    .option("--status <code>", "of reject and error-after-commit", wholeNumber(200))
    .option("--code <n>", "of code and error-after-commit", wholeNumber())
    .option("--retry-after-seconds <n>", "of reject", wholeNumber())
    .option("--ms <n>", "of slow, slow-answer, invisible and delayed", wholeNumber())
    .option("--queries <n>", "of invisible", wholeNumber(1))
    .option("--cached", "the token counts as answered")
    .option("--lookup-key <key>", "only this LookupKey")
    .option("--account <name>", "only this user name")
    .option("--event <kind>", "only callbacks of this kind")
    .option("--for-ms <n>", "only for so long", wholeNumber(1));
  addSandboxCommand<{ id?: string }, unknown>(
    sandbox,
    "clear-faults",
    { summary: "take all faults away, or one", example: "trustflow sandbox clear-faults" },
    (control, { id }) => (id === undefined ? control.clearFaults() : control.removeFault(id)),
  ).option("--id <id>", "only this one");
}
