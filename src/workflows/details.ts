// The Markdown that the Web UI shows of a running process (DESIGN §9). It is encrypted; still it holds no secret.
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

/** What a person is asked, and the command that answers it. */
function asking({ process, id }: ProcessStatus, attention: Attention): string[] {
  const { kind, reason, decisions, happenedNeeds = [] } = attention;
  const mends = kind === "accessDenied" || kind === "unavailable";
  return [
    `- **Needs a person**: ${reason}`,
    ...(mends ? ["- It keeps trying, and goes on by itself once the cause is gone"] : []),
    `- Decisions: ${decisions.join(", ")}`,
    ...(happenedNeeds.length > 0
      ? [`- With happened, in the result: ${happenedNeeds.map((key) => `\`${key}\``).join(", ")}`]
      : []),
    "",
    "```",
    `trustflow resolve ${process}/${id} --attention ${attention.id}`,
    `  --decision ${decisions[0]} --by NAME`,
    "```",
  ];
}

function row({ at, source, event, by, note }: TimelineEntry): string {
  const what = note ? `${event}: ${note}` : event;
  return `| ${at} | ${by ?? source} | ${what.replaceAll("|", "/").replaceAll("\n", " ")} |`;
}
