// `trustflow alert-emails`: an operator says whom the video identification service tells of failed callbacks (P1 §4.2, rules 1–4).
import type { Command } from "commander";
import { EmailAddress, ProviderId } from "../../contracts/shared/values.js";
import { usageError } from "../output/exit.js";
import { writeAnswer } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import { addAccountCommand, answerOf, providerAccount } from "../provider/call.js";
import type { AccountOptions } from "../provider/call.js";
import { provenOperator } from "./proven-operator.js";

interface Options extends AccountOptions {
  remove?: boolean;
}

export function addAlertEmails(program: Command): void {
  addAccountCommand(program, "alert-emails <process-id> [email...]", {
    summary: "register whom the video identification service tells of failed callbacks",
    arguments: {
      "process-id": "a name of the provider's, not an ID of Trustflow's",
      email: "the addresses; none with --remove",
    },
    details: `The addresses replace those that the provider has for this process ID. Nothing reads them back. A process with alert.before replaces them by those at its end.
If decisions.signed is "required", it needs the key of an operator who may do so (keys.operator).`,
    example:
      "trustflow alert-emails desk desk@example.com night@example.com\ntrustflow alert-emails desk --remove",
  })
    .option("--remove", "remove all addresses of this process ID")
    .action(setAlertEmails);
}

async function setAlertEmails(
  processId: string,
  emails: string[],
  { account: name, remove = false, json }: Options,
): Promise<void> {
  const { error } = ProviderId.safeParse(processId);
  if (error) throw usageError(`process-id: ${error.issues[0]?.message}`);
  if (remove === emails.length > 0) throw usageError("email: give addresses, or --remove and none");
  const wrong = emails.find((email) => !EmailAddress.safeParse(email).success);
  if (wrong !== undefined)
    throw usageError(`email: ${JSON.stringify(wrong)} is not an e-mail address`);
  const { account, config } = providerAccount("video-identification", name);
  const operator = provenOperator(config, "alertEmails")?.name;
  const { registerAlertEmail } = await import("../../providers/video-identification/client.js");
  await answerOf(registerAlertEmail(account, { processId, emails }));
  const signed = operator === undefined ? "" : ` (operator ${operator})`;
  const text = terminal`${processId}  ${remove ? "removed" : emails.join(", ")}${signed}`;
  writeAnswer(json, { processId, emails, ...(operator !== undefined && { operator }) }, text);
}
