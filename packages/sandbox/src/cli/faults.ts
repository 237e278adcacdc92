// The commands `fault`, `faults` and `clear-faults`.
import { Option } from "commander";
import { callbackFaultKinds, type FaultOptions, requestFaultKinds } from "../engine/faults.js";
import { table, wholeNumber } from "./command.js";
import type { AddControl } from "./command.js";

export function addFaults(add: AddControl): void {
  add(
    "faults",
    { summary: "list the faults that are set", example: "faults" },
    (control) => control.faults(),
    (faults) =>
      table(
        ["ID", "OPERATION", "KIND", "CALL", "TIMES", "SEEN", "FIRED"],
        faults.map(({ id, operation, kind, call = 1, times = 1, seen, fired }) =>
          [id, operation, kind, call, times, seen, fired].map(String),
        ),
      ),
  );
  add<Omit<FaultOptions, "operation">, unknown>(
    "fault <operation>",
    {
      summary: "set a fault",
      arguments: {
        operation:
          "for example evi-post.submit, evi-post.query, evi-post.callback, evi-post.* or *",
      },
      example: "fault evi-post.submit --kind cut-after-commit --call 1",
    },
    (control, options, operation) => control.addFault({ ...options, operation }),
  )
    .addOption(
      new Option("--kind <kind>", "what happens")
        .choices([...requestFaultKinds, ...callbackFaultKinds])
        .makeOptionMandatory(),
    )
    .option("--call <n>", "number of the first matching call that fails", wholeNumber(1))
    .option("--times <n>", "how many matching calls fail, or always", (text) =>
      text === "always" ? text : wholeNumber(1)(text),
    )
    .option("--status <code>", "HTTP status for reject and error-after-commit", wholeNumber(200))
    .option("--code <n>", "provider's error code for code and error-after-commit", wholeNumber())
    .option("--retry-after-seconds <n>", "Retry-After header for reject", wholeNumber())
    .option("--ms <n>", "duration for slow, slow-answer, invisible and delayed", wholeNumber())
    .option("--queries <n>", "number of queries for invisible", wholeNumber(1))
    .option("--cached", "remember the token as answered")
    .option("--lookup-key <key>", "only items with this LookupKey")
    .option("--account <name>", "only calls of this user name")
    .option("--event <kind>", "only callbacks of this kind")
    .option("--for-ms <n>", "remove the fault after this time", wholeNumber(1));
  add<{ id?: string }, unknown>(
    "clear-faults",
    { summary: "remove all faults, or one", example: "clear-faults" },
    (control, { id }) => (id === undefined ? control.clearFaults() : control.removeFault(id)),
  ).option("--id <id>", "only this one");
}
