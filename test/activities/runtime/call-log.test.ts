// What the log says of a call that failed: where, how and under which request id, and nothing that was sent or answered.
import { expect, test } from "vitest";
import { measured } from "../../../src/activities/runtime/call-metrics.js";
import * as client from "../../../src/providers/evi-notice/client.js";
import { redactingLogger } from "../../../src/temporal/logging.js";
import { accountAt, noticeId, submission } from "../../providers/evi-notice/account.js";
import { answering, refusingUrl, serverOfEachTest } from "../../providers/provider-server.js";
import { inAttempt } from "../attempts.js";

const requestId = "0b6f3a52-7c1d-4f7e-9a55-1f0c6c1d2e3f";
const canary = "Q7XJ2VK9";

const server = serverOfEachTest();

/** The lines of the log after the submission of a notice at this address. */
async function logOf(url: string): Promise<object[]> {
  const lines: string[] = [];
  const logger = redactingLogger("INFO", { write: (line) => void lines.push(line) });
  const given = { ...submission, subject: canary };
  const submit = measured("evi-notice", "submit", () =>
    client.submit(accountAt(url), given, noticeId),
  );
  await inAttempt(() => submit().catch(() => undefined), {}, { logger });
  expect(lines.filter((line) => line.includes(canary))).toEqual([]);
  return lines.map((line) => JSON.parse(line) as object);
}

const about = { provider: "evi-notice", operation: "submit" };

test("an answered outage: host, status and the provider's request id (P2 §7.2)", async () => {
  server.answer = answering({ Type: "about:blank", Detail: canary, RequestId: requestId }, 503);
  const { host } = new URL(server.url);
  const told = { ...about, host, status: 503, requestId, problem: "answered 503" };
  expect(await logOf(server.url)).toEqual([
    expect.objectContaining({ level: "warn", message: "A call to the provider failed", ...told }),
  ]);
});

test("an unreachable host: its name and the code of the network", async () => {
  const url = await refusingUrl();
  const told = { ...about, host: new URL(url).host, code: "ECONNREFUSED", problem: "not sent" };
  expect(await logOf(url)).toEqual([expect.objectContaining({ level: "warn", ...told })]);
});

test("an input that the provider refuses is no warning", async () => {
  server.answer = answering({ Type: "about:blank", Detail: canary, RequestId: requestId }, 400);
  expect(await logOf(server.url)).toEqual([
    expect.objectContaining({ level: "info", ...about, status: 400, requestId }),
  ]);
});
