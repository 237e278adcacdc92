// What `status` shows of the processes that a process has started, and where their decisions are made.
import { expect, test } from "vitest";
import {
  childFacts,
  childLines,
  childResults,
  withoutChildren,
} from "../../../src/cli/processes/children.js";
import { trackedStatus } from "../../harness/stack/tracked-status.js";
import type { ServeNoticeStatus } from "../../../src/contracts/serve-notice/contract.js";

const status = (children: ServeNoticeStatus["children"]): ServeNoticeStatus => ({
  ...trackedStatus("serveNotice", "order-1"),
  ...(children && { children }),
});
const notice = { process: "sendNotice", id: "order-1.notice" };

test("each child is a line with its outcome or state, and what it waits for", () => {
  const shown = status([
    { ...notice, state: "Closed", outcome: "refused" },
    { process: "sendPostal", id: "order-1.post", state: "Sent", waitingFor: "news from EviPost" },
  ]);
  expect(childFacts(shown)).toEqual([
    ["sendNotice/order-1.notice", "refused"],
    ["sendPostal/order-1.post", "Sent, waits for news from EviPost"],
  ]);
  expect(childFacts(status([notice]))).toEqual([["sendNotice/order-1.notice", "started"]]);
  expect([...childFacts(status(undefined)), ...childLines(status(undefined))]).toEqual([]);
});

test("a decision is made at the child, and the line has the command that shows it", () => {
  const attention = { id: "submit-1", kind: "unavailable" as const, reason: "no answer" };
  const [line] = childLines(status([{ ...notice, attention }]));
  expect(line?.source).toContain(
    "sendNotice/order-1.notice needs an operator decision: trustflow status sendNotice/order-1.notice",
  );
});

test("the results of children are a line each, and not a block of JSON", () => {
  const child = { ...notice, outcome: "read", documents: [], references: {} };
  const own = { notice: child, providerAnswer: { outcome: "any" } };
  expect(childResults(own)).toEqual([["sendNotice/order-1.notice", "read"]]);
  expect(withoutChildren(own)).toEqual({ providerAnswer: { outcome: "any" } });
});
