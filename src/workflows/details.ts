// The Markdown that the Web UI shows of a running process (DESIGN §9). It is encrypted; still it holds no secret.
import { consequencesOf, namePlaceholder } from "../contracts/decisions.js";
import type { Attention, ProcessStatus, TimelineEntry } from "../contracts/status.js";

const timelineShown = 40;
/** The Web UI (2.42) cuts the height of a line off the end of what it shows: that of an empty one, then. */
const tail = "\u00a0";

export function renderDetails(status: ProcessStatus): string {
  const lines = [
    `**${status.process}** \`${status.id}\` on ${status.environment}, account \`${status.account}\``,
    "",
    `- Phase: **${status.phase}**`,
  ];
  for (const attention of attentionsOf(status)) lines.push(...asking(status, attention));
  if (status.waitingFor && !status.attention) {
    lines.push(`- Waits for: ${status.waitingFor}${status.until ? `, until ${status.until}` : ""}`);
  }
  if (status.state) lines.push(`- State: **${status.state}** (confirmed)`);
  if (status.reportedState && status.reportedState !== status.state) {
    lines.push(`- Reported by callback: ${status.reportedState}`);
  }
  if (status.failure)
    lines.push(`- **Failed** as ${status.failure.type}: ${status.failure.message}`);
  if (status.outcome) lines.push(`- Outcome: **${status.outcome}**`);
  for (const [name, value] of Object.entries(status.references)) {
    lines.push(`- ${name}: \`${value}\``);
  }
  const { timeline } = status;
  if (timeline.length > 0) lines.push("", "| when | who | what |", "|---|---|---|");
  if (timeline.length > timelineShown)
    lines.push(`| … | | ${timeline.length - timelineShown} earlier |`);
  lines.push(...timeline.slice(-timelineShown).map(row), "", tail);
  return lines.join("\n");
}

function attentionsOf({ attention, moreAttentions = [] }: ProcessStatus): Attention[] {
  return attention ? [attention, ...moreAttentions] : [];
}

/**
 * What a person is asked, what each decision does, and the command for it. As it stands the command decides nothing: the
 * decision and the name have to be put in.
 */
function asking({ process, id }: ProcessStatus, attention: Attention): string[] {
  const { kind, reason } = attention;
  const goesOnByItself = kind === "accessDenied" || kind === "unavailable";
  return [
    `- **Waits for a person**: ${reason}`,
    ...(goesOnByItself ? ["- It keeps trying, and goes on by itself once the cause is fixed"] : []),
    ...consequencesOf(attention).map(([decision, does]) => `- Decision **${decision}**: ${does}`),
    "",
    "```",
    `trustflow resolve ${process}/${id} --attention ${attention.id} --decision DECISION --by ${namePlaceholder}`,
    "```",
  ];
}

function row({ at, source, event, by, note }: TimelineEntry): string {
  const what = note ? `${event}: ${note}` : event;
  return `| ${at} | ${by ?? source} | ${what.replaceAll("|", "/").replaceAll("\n", " ")} |`;
}
