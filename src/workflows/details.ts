// The Markdown that the Web UI shows of a running process (DESIGN §9). It is encrypted; still it holds no secret.
import type { ProcessStatus, TimelineEntry } from "../contracts/status.js";

const timelineShown = 40;

export function renderDetails(status: ProcessStatus): string {
  const lines = [
    `**${status.process}** \`${status.id}\` on ${status.environment}, account \`${status.account}\``,
    "",
    `- Phase: **${status.phase}**`,
  ];
  if (status.attention) {
    lines.push(
      `- **Needs a person**: ${status.attention.reason}`,
      `- Decide with \`trustflow resolve ${status.process}/${status.id} --attention ${status.attention.id} --decision ${status.attention.decisions.join("|")} --by NAME\``,
    );
  }
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
  lines.push(...timeline.slice(-timelineShown).map(row));
  return lines.join("\n");
}

function row({ at, source, event, by, note }: TimelineEntry): string {
  const what = note ? `${event}: ${note}` : event;
  return `| ${at} | ${by ?? source} | ${what.replaceAll("|", "/").replaceAll("\n", " ")} |`;
}
