// Says what a log line may show. Text that may be personal or secret (failure messages, stacks, payloads) stays out, because only what is
// listed here is shown.

const MAX_LENGTH = 300;
const NAME = /^[\w.$-]{1,80}$/;

/** Texts that are names or ids; numbers and booleans pass under any name, everything else passes under none. */
const shown = new Set(
  [
    "sdkComponent target state status operation code problem kind role address origin host requestId",
    "namespace taskQueue workflowId runId workflowType activityId activityType",
    "signalName updateName queryName process step provider account table migration",
  ].flatMap((names) => names.split(" ")),
);

export function redact(details: object = {}): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(details)) {
    if (typeof value === "number" || typeof value === "boolean") kept[key] = value;
    else if (typeof value === "string" && shown.has(key)) kept[key] = value.slice(0, MAX_LENGTH);
    else if (value instanceof Error || key === "error") kept[key] = { types: typesOf(value) };
  }
  return kept;
}

/** Keeps a message up to ": " or the end of the first line; the rest may quote anything. */
export function messagePrefix(message: string): string {
  return (message.split(/: |\n/, 1)[0] ?? "").slice(0, MAX_LENGTH);
}

/** Lists the types of an error and its causes, outermost first. */
function typesOf(error: unknown): string[] {
  const types: string[] = [];
  for (
    let at = error;
    typeof at === "object" && at !== null && types.length < 5;
    at = (at as Error).cause
  ) {
    const { type, name } = at as { type?: unknown; name?: unknown };
    types.push(
      [type, name].find((text): text is string => typeof text === "string" && NAME.test(text)) ??
        "Error",
    );
  }
  return types;
}
