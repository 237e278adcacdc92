// What `watch` prints of each status: every timeline entry once, in whatever order they come. What a full status shows.
import { expect, test } from "vitest";
import type {
  Attention,
  ProcessStatus,
  TimelineEntry,
} from "../../../src/contracts/shared/status.js";
import { trackedStatus } from "../../harness/stack/tracked-status.js";
import {
  ProgressLines,
  answerText,
  resultText,
  statusText,
} from "../../../src/cli/processes/show.js";

const entry = (event: string, minute: number): TimelineEntry => ({
  at: `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`,
  source: "callback",
  event,
});

const statusOf = (timeline: TimelineEntry[], more: Partial<ProcessStatus> = {}) =>
  trackedStatus("sendPostal", "order-7", { timeline, ...more });

function printed(...statuses: ProcessStatus[]): string[] {
  const progress = new ProgressLines();
  return statuses.flatMap((status) => progress.linesOf(status)).map(({ source }) => source);
}

test("`watch` prints a failed attempt once, and not again while the next one runs", () => {
  const call = {
    ...{ provider: "evi-post", operation: "submit", host: "api.example", requestId: "r-1" },
    ...{ cause: "answered 503", attempt: 2 },
  };
  const waiting = { ...call, nextAttemptAt: "2026-01-01T00:00:09.000Z" };
  const lines = printed(
    ...[[waiting], [waiting], [call], [{ ...waiting, attempt: 3 }]].map((retrying) =>
      statusOf([], { retrying }),
    ),
  ).filter((line) => line.includes("retrying"));
  const text = "retrying evi-post submit at api.example: answered 503, request r-1; attempt";
  expect(lines).toEqual([
    expect.stringContaining(`${text} 2 at 2026-01-01T00:00:09.000Z`),
    expect.stringContaining(`${text} 3 at 2026-01-01T00:00:09.000Z`),
  ]);
  expect(statusText(statusOf([], { retrying: [call] })).source).toContain(
    "attempt 2 is under way or waits for a worker",
  );
});

test("a time of the sandbox's clock is marked, and a code shows the tries that are left", () => {
  const timeline = [{ ...entry("Sent", 5), clock: "sandbox" as const }];
  const waiting = statusOf(timeline, {
    ...{ waitingFor: "the holder's code", until: "2026-01-08T00:00:00.000Z" },
    code: { triesLeft: 4, resendsLeft: 3 },
  });
  const shown = statusText(waiting).source;
  expect(shown).toMatch(/2026-01-01T00:05:00.000Z \(sandbox clock\).* callback +Sent/);
  expect(shown).toMatch(
    /tries left +4; further codes: 3\nenter the code by +trustflow otp \w+\/\S+/,
  );
  expect(printed(waiting).join("\n")).toContain("tries left 4; further codes: 3");
});

test("without a try left, the next step is another code", () => {
  const next = /send another code by +trustflow resend-otp sendPostal\/order-7/;
  const locked = statusText(statusOf([], { code: { triesLeft: 0, resendsLeft: 2 } })).source;
  expect(locked).toMatch(next);
  expect(locked).not.toContain("enter the code by");
  const said = (answer: object) => answerText(answer, "sendPostal/order-7").source;
  expect(said({ answer: "locked" })).toMatch(next);
  expect(said({ answer: "wrong", triesLeft: 0 })).toMatch(next);
  expect(said({ answer: "wrong", triesLeft: 1 })).not.toMatch(next);
});

test("an entry that comes late or twice, and stands before others, is printed, and no other one again", () => {
  const [sent, early, delivered] = [entry("Sent", 5), entry("Issued", 1), entry("Delivered", 9)];
  const lines = printed(
    statusOf([sent]),
    statusOf([early, sent]),
    statusOf([early, sent, sent, delivered]),
    statusOf([early, sent, sent, delivered]),
  ).filter((line) => line.includes("callback"));
  expect(lines.map((line) => line.split(/ +/).at(-1))).toEqual([
    ...["Sent", "Issued", "Sent", "Delivered"],
  ]);
});

test("entries that a status leaves out are asked for once, and printed in their order", async () => {
  const all = [1, 2, 3, 4].map((minute) => entry(`e${minute}`, minute));
  const [first, , , last] = all;
  const progress = new ProgressLines();
  let asked = 0;
  const eventsOf = async (status: ProcessStatus, whole?: TimelineEntry[]) => {
    const lines = await progress.linesWith(status, async () => {
      asked += 1;
      return whole;
    });
    return lines.flatMap(({ source }) => source.match(/e\d$/)?.[0] ?? []);
  };
  expect(await eventsOf(statusOf([first!]))).toEqual(["e1"]);
  const skipping = statusOf([last!], { earlierEntries: 3 });
  expect(await eventsOf(skipping, all)).toEqual(["e2", "e3", "e4"]);
  expect(await eventsOf(skipping, all)).toEqual([]);
  expect(asked).toBe(1);
  const failed = statusOf([entry("e6", 6)], { earlierEntries: 5 });
  expect(await eventsOf(failed)).toEqual(["e6"]);
  expect(await eventsOf(failed)).toEqual([]);
  expect(asked).toBe(2);
});

test("an attention is printed once while it stays as it is", () => {
  const attention: Attention = {
    id: "submit-1",
    kind: "accessDenied",
    step: "submit",
    since: "2026-01-01T00:00:00.000Z",
    reason: "Access denied",
    decisions: ["retry", "abandon"],
  };
  const waiting = statusOf([], { attention });
  const lines = printed(waiting, { ...waiting, timeline: [entry("Sent", 5)] }, waiting);
  expect(lines.filter((line) => line.includes("needs an operator decision since"))).toHaveLength(1);
});

test("a failed process says why", () => {
  const failure = { type: "NotAccepted", message: "evi-post did not accept it", fields: [] };
  expect(printed(statusOf([], { phase: "ended", failure }))).toEqual([
    "ended, failed: evi-post did not accept it",
  ]);
});

test("a full status, and a result, show what the provider has said of a communication", () => {
  const said = {
    shown: { siteName: "Madrid", address: { locality: "Toledo" } },
    reported: [{ at: "2026-01-01T00:00:00.000Z", kind: "Read", ipAddress: "192.0.2.1" }],
  };
  const result = {
    ...{ process: "sendNotice", id: "n", outcome: "read", references: {}, dates: {} },
    ...{ documents: [], timeline: [] },
  };
  for (const text of [statusText(statusOf([], said)), resultText({ ...result, ...said })]) {
    expect(text.source).toMatch(/siteName +Madrid\n.*Toledo/);
    expect(text.source).toMatch(/not confirmed\n.*Read\nipAddress +192\.0\.2\.1/);
  }
  expect(statusText(statusOf([])).source).not.toContain("not confirmed");
});

test("the status of an abandoned process says who decided, and what exists at the provider", () => {
  const abandoned = {
    ...{ attention: "submit-1", effect: "unknown" as const, by: "Ana Ruiz" },
    ...{ principal: "ana", note: "not in the portal" },
  };
  const failure = { type: "Abandoned", message: "Abandoned at submit", fields: [], abandoned };
  const text = statusText(statusOf([], { phase: "ended", failure })).source;
  expect(text).toMatch(
    /effect +unknown\n +abandoned by +Ana Ruiz\n +signed by +ana\n +note +not in the portal/,
  );
  expect(statusText(statusOf([])).source).not.toContain("effect");
});
