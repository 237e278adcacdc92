// Shows a running process in the Web UI (docs/design.md §9). They are encrypted, but still contain no secret.
import {
  commandOf,
  otpCommandOf,
  consequencesOf,
  proposedLine,
  traceLines,
} from "../../contracts/shared/decisions.js";
import type { Attention, ProcessStatus, TimelineEntry } from "../../contracts/shared/status.js";
import { codeBlock, linesOf, markdown, withOptions } from "./markdown.js";
import type { Markdown } from "./markdown.js";

const MAX_TIMELINE_SHOWN = 40;
/** The Web UI (2.42) cuts off the last line of the details, so the last line is empty. */
const tail = markdown`
\u00a0
`;
const emptyLine = markdown``;

/** `ownLines` are those that only this process has; `calls` are under way; at `next` the process looks again by itself. */
export function renderDetails(
  status: ProcessStatus,
  ownLines: [string, string][] = [],
  calls: readonly string[] = [],
  next?: string,
): Markdown {
  const { process: processName, id, environment, account, phase, state, timeline } = status;
  const place =
    environment === "unknown" ? emptyLine : markdown` on ${environment}, account ${account}`;
  const lines = [
    markdown`**${processName}** **${id}**${place}`,
    emptyLine,
    markdown`- Phase: **${phase}**`,
  ];
  for (const attention of attentionsOf(status)) lines.push(...asking(status, attention));
  if (status.waitingFor && !status.attention) {
    const until = status.until ? markdown`, until ${status.until}` : emptyLine;
    lines.push(markdown`- Waits for: ${status.waitingFor}${until}`);
    // While a call is under way, its own line says what happens next.
    if (next !== undefined && next !== status.until && calls.length === 0)
      lines.push(markdown`- Asks by itself at: ${next}`);
  }
  if (status.code)
    lines.push(
      markdown`- Tries left: ${status.code.triesLeft}; further codes: ${status.code.resendsLeft}`,
      codeBlock(otpCommandOf(`${processName}/${id}`)),
    );
  // The process does not learn of an attempt that fails and is made again; the page shows each one.
  for (const call of calls)
    lines.push(
      markdown`- Now: ${call} (see Pending Activities for attempt, cause and next attempt)`,
    );
  if (state) lines.push(markdown`- State: **${state}** (confirmed)`);
  if (status.reportedState && status.reportedState !== state) {
    lines.push(markdown`- Reported by callback: ${status.reportedState}`);
  }
  if (status.failure)
    lines.push(markdown`- **Failed** as ${status.failure.type}: ${status.failure.message}`);
  if (status.outcome) lines.push(markdown`- Outcome: **${status.outcome}**`);
  for (const [name, value] of [...ownLines, ...Object.entries(status.references)]) {
    lines.push(markdown`- ${name}: ${value}`);
  }
  if (timeline.length > 0)
    lines.push(
      emptyLine,
      markdown`
**Timeline**
      `,
      emptyLine,
    );
  if (timeline.length > MAX_TIMELINE_SHOWN)
    lines.push(markdown`- … ${timeline.length - MAX_TIMELINE_SHOWN} earlier`);
  lines.push(...timeline.slice(-MAX_TIMELINE_SHOWN).map(entryLine), emptyLine, tail);
  return linesOf(lines);
}

function attentionsOf({ attention, moreAttentions = [] }: ProcessStatus): Attention[] {
  return attention ? [attention, ...moreAttentions] : [];
}

/** Says what a person is asked, what each decision does, and the command for it. */
function asking(status: ProcessStatus, attention: Attention): Markdown[] {
  const { process: processName, id } = status;
  const { kind, reason } = attention;
  const goesOnByItself = kind === "accessDenied" || kind === "unavailable";
  return [
    markdown`- **Needs an operator decision**: ${reason}`,
    ...traceLines(attention, status).map((line) => markdown`- ${line}`),
    ...(attention.proposed ? [markdown`- ${proposedLine(attention.proposed)}`] : []),
    ...(goesOnByItself
      ? [
          markdown`
- The process keeps trying and continues by itself once the cause is fixed
          `,
        ]
      : []),
    ...consequencesOf(attention).flatMap(([decision, does]) => [
      markdown`- Decision **${decision}**: ${withOptions(does)}`,
      codeBlock(commandOf(`${processName}/${id}`, attention, decision)),
    ]),
  ];
}

/** The source comes first, in our own words, so that no text can pretend to come from another source. */
function entryLine({ at, clock, source, event, by, principal, note }: TimelineEntry): Markdown {
  const time = clock === undefined ? at : `${at} (${clock} clock)`;
  const stated = by === undefined ? emptyLine : markdown` ${by}`;
  const who = principal === undefined ? stated : markdown`${stated}, signed by **${principal}**`;
  const more = note === undefined ? emptyLine : markdown` – ${note}`;
  return markdown`- ${time} **${source}**${who}: ${event}${more}`;
}
