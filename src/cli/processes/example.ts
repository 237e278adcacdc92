// `trustflow example PROCESS` prints an input to begin with.
import type { Command } from "commander";
import type { ProcessName } from "../../contracts/registry.js";
import { addCommand, processArgument } from "../command.js";
import { writeJson, writeJsonText } from "../output/output.js";

export function addExample(program: Command): void {
  addCommand(program, "example", {
    summary: "print a valid input of a process, with comments",
    details: `--input takes it as it is: comments are allowed there. --json prints it without comments. In place of a document, the
input may name a file: { "path": "letter.pdf" }.`,
    example:
      "trustflow example sendPostal > letter.json\ntrustflow send-postal --input letter.json --dry-run",
  })
    .addArgument(processArgument())
    .action(async (processName: ProcessName, { json }: { json?: boolean }) => {
      const { commentedExampleOf, exampleOf } = await import("../../contracts/example.js");
      if (json) writeJson(exampleOf(processName));
      else writeJsonText(commentedExampleOf(processName));
    });
}
