// `trustflow provider notices`: the notices that EviNotice has of an account, by every filter of its query (P2 §2.7, §4.2, §8).
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { shellWord } from "../../contracts/shared/text.js";
import { collect, wholeNumber } from "../command.js";
import { writeJson, writeNote, writeTable } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import { addAccountCommand, answerOf, providerAccount, requireUuid } from "./call.js";
import type { AccountOptions } from "./call.js";

interface NoticesOptions extends AccountOptions {
  lookupKey?: string[];
  owner?: string;
  linkedId?: string;
  state?: string;
  outcome?: string;
  limit: number;
  cursor?: string;
}

export function addNotices(provider: Command): void {
  addAccountCommand(provider, "notices", {
    summary: "list the notices that EviNotice has of an account",
    details: `--json prints all members, which may hold personal data. A page has at most 100 notices; --cursor asks for the next one.
Which ids --linked-id takes, the provider says; it may be the id of a batch.`,
    example: `trustflow provider notices --state Failed
trustflow provider notices --outcome Refused --owner sender@example.com --json
trustflow provider notices --linked-id 0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11`,
  })
    .option("--lookup-key <key>", "only notices with this lookup key; may be repeated", collect)
    .option("--owner <email>", "only notices of the owner with this e-mail address")
    .option("--linked-id <id>", "only notices that are linked to this id")
    .option("--state <state>", "only notices in this state: Sent, Failed, Closed")
    .option("--outcome <outcome>", "only notices with this outcome: Read, Refused")
    .option("--limit <n>", "maximum number of notices, at most 100", atMost100, 100)
    .option("--cursor <cursor>", "the page after the one that named this cursor")
    .action(notices);
}

async function notices(options: NoticesOptions): Promise<void> {
  const { account: name, json, lookupKey: lookupKeys, ...filter } = options;
  if (filter.linkedId !== undefined) requireUuid("--linked-id", filter.linkedId);
  const { account } = providerAccount("evi-notice", name);
  const { query } = await import("../../providers/evi-notice/client.js");
  const page = await answerOf(query(account, { ...filter, ...(lookupKeys && { lookupKeys }) }));
  if (json) return writeJson(page);
  writeTable(
    ["ID", "STATE", "OUTCOME", "REFUSED", "LOOKUP KEY"],
    page.results.map(({ id, state, outcome, refusedOn, lookupKey }) => [
      id,
      state,
      outcome,
      refusedOn,
      lookupKey,
    ]),
  );
  if (page.cursor !== undefined)
    writeNote(terminal`There may be more: --cursor ${shellWord(page.cursor)} shows them`);
}

function atMost100(text: string): number {
  const value = wholeNumber(1)(text);
  if (value > 100) throw new InvalidArgumentError("must be at most 100 (P2 §8)");
  return value;
}
