// `Trustflow.embedded({ clock: "virtual" })`: months of processes and providers by one clock, which stands still until a test moves it.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { nothingIsLeft, program } from "../../../packages/dev/test/program.js";

const LIMIT_MS = 300_000;
const DAY_MS = 86_400_000;

const example = async (name: string) =>
  JSON.parse(
    (await readFile(`examples/${name}.json`, "utf8")).replaceAll(
      '{ "path": "letter.pdf" }',
      JSON.stringify({
        base64: (await readFile("examples/letter.pdf")).toString("base64"),
        mediaType: "application/pdf",
      }),
    ),
  );

/** What the program prints before it ends, by itself or by a kill. */
async function ended({ child, lines }: ReturnType<typeof program>, isKilled = false) {
  const exit = once(child, "exit");
  const said = JSON.parse((await lines.next()).value);
  if (isKilled) child.kill("SIGKILL");
  expect(await exit).toEqual(isKilled ? [null, "SIGKILL"] : [0, null]);
  await nothingIsLeft();
  return said;
}

const at = (
  timeline: { event: string; at: string; source: string }[],
  event: string,
  source: string,
) => Date.parse(timeline.find((each) => each.event === event && each.source === source)?.at ?? "");

// Without a place in the cache, each task of the workflow is a replay of all before it.
const withoutCache = { clock: "virtual", env: { TRUSTFLOW_WORKER__CACHED_PROCESSES: "0" } };

test(
  "a letter is delivered after sixty days, and every time is that of the clock",
  async () => {
    const { settings: _, ...letter } = await example("letter");
    const input = { ...letter, recipientName: "sandbox:delivered-after-60-days" };
    const said = await ended(
      program(
        withoutCache,
        `const { clock, sandbox } = trustflow;
        const start = clock.now();
        const letter = await trustflow.sendPostal("order-1", ${JSON.stringify(input)});
        await clock.advance("59 days");
        const day59 = { ...(await letter.status()), now: clock.now(), sandbox: (await sandbox.clock()).now, isOpen: await letter.isOpen() };
        const result = await clock.runUntil(letter.result());
        const end = clock.now();
        const idle = await clock.runUntil(new Promise(() => {})).catch(({ message }) => message);
        const alone = await Promise.resolve().then(() => sandbox.advance(1)).catch(({ message }) => message);
        const { byIntent } = await sandbox.ledger();
        const { newest } = await sandbox.callbacks();
        const { total } = await sandbox.requests();
        console.log(JSON.stringify({ start, day59, result, end, idle, alone, byIntent, newest, total }));
        await trustflow.close();`,
      ),
    );
    const { start, day59, result, end, newest } = said;
    const day = (instant: string | number) =>
      (new Date(instant).getTime() - Date.parse(start)) / DAY_MS;
    expect(day59).toMatchObject({ isOpen: true, state: "Sent", sandbox: day59.now });
    expect(day(day59.now)).toBe(59);
    expect(result.outcome).toBe("delivered");
    const { timeline } = result;
    const times = timeline.map((entry: { at: string }) => entry.at);
    expect(times).toEqual(times.toSorted());
    expect(at(timeline, "Delivered", "callback") - at(timeline, "Sent", "callback")).toBe(
      60 * DAY_MS,
    );
    // Every poll is a quarter of a day after the one before: it saw what the provider had done by then.
    expect(day(at(timeline, "Submitted", "process"))).toBe(0);
    expect(day(at(timeline, "Processed", "query"))).toBe(0.25);
    // Each callback was delivered while the clock stood at its instant.
    for (const { result: delivery, attempt } of newest)
      expect({ delivery, attempt }).toEqual({ delivery: "delivered", attempt: 1 });
    // The affidavit may come seven days after the end.
    expect(day(end) - day(at(timeline, "Closed", "query"))).toBeCloseTo(7, 1);
    expect(said.idle).toContain("nothing is due any more");
    expect(said.alone).toContain("use trustflow.clock");
    expect(Object.values(said.byIntent)).toEqual([
      expect.objectContaining({ "evi-post.submit": 1 }),
    ]);
    // Of 240 polls at the hours of its interval, those of days without news are skipped.
    expect(said.total["evi-post.query"]["200"]).toBeLessThan(80);
  },
  LIMIT_MS,
);

test(
  "processes of two programs live by one clock: few stops, an outage between two moves, a deadline; and nothing is left after a kill",
  async () => {
    const list = Buffer.from(
      "address;legalname;displayname\nada@example.com;Ada Byron;sandbox:read\n",
    ).toString("base64");
    const { settings: _, ...batch } = await example("batch");
    const { settings: __, ...letter } = await example("letter");
    const { settings: ___, ...notice } = await example("notice");
    const serving = await example("serve");
    const inputs = {
      batch: { ...batch, recipients: { base64: list, mediaType: "text/csv" } },
      letter: { ...letter, recipientName: "sandbox:open" },
      agreement: await example("agreement"),
      identity: { idConference: "order-4~audit-late" },
      serving: {
        notice: { ...serving.notice, recipientDisplayName: "sandbox:received" },
        post: serving.post,
        settings: { deadlineSeconds: (3 * DAY_MS) / 1000, lookIntervalSeconds: 21_600 },
      },
      notice: {
        ...notice,
        recipientDisplayName: "sandbox:open",
        settings: { deadlineSeconds: (5 * DAY_MS) / 1000 },
      },
    };
    const said = await ended(
      program(
        { clock: "virtual" },
        `const { clock, sandbox } = trustflow;
        const inputs = ${JSON.stringify(inputs)};
        const batch = await trustflow.sendNoticeBatch("order-1", inputs.batch);
        const letter = await trustflow.sendPostal("order-2", inputs.letter);
        const agreement = await trustflow.signOneShot("order-3", inputs.agreement);
        const identity = await trustflow.verifyIdentity("order-4", inputs.identity);
        await clock.advance("1 minute");
        const { otp } = (await sandbox.messages()).find(({ provider }) => provider === "one-shot-signature");
        await agreement.submitOtp(otp, { updateId: "first" });
        const signed = await clock.runUntil(agreement.result());
        const identified = await clock.runUntil(identity.result());
        const closed = await clock.runUntil(batch.result());
        await clock.advance("5 days");
        await sandbox.addFault({ operation: "evi-post.query", kind: "reject", times: "always" });
        await clock.advance("6 hours");
        const away = await letter.status();
        await sandbox.clearFaults();
        await clock.advance("1 day");
        const back = await letter.status();
        const requests = (await sandbox.requests()).total;
        const start = clock.now();
        const { Trustflow: Client } = await import("trustflow-client");
        const client = await Client.connect({ env: trustflow.env });
        const serving = await client.serveNotice("order-5", inputs.serving);
        const notice = await trustflow.sendNotice("order-6", inputs.notice);
        const { outcome: ofNotice } = await clock.runUntil(notice.result());
        const noticeEnd = clock.now();
        const served = await clock.runUntil(serving.result());
        console.log(JSON.stringify({ signed, identified, closed, away, back, requests, start, ofNotice, noticeEnd, served }));`,
      ),
      true,
    );
    const { signed, identified, closed, away, back, requests, served } = said;
    expect([signed.outcome, identified.outcome, closed.outcome]).toEqual([
      "signed",
      "verified",
      "closed",
    ]);
    expect(away.retrying).toMatchObject([{ operation: "query", cause: "answered 503 (Sandbox)" }]);
    expect(back).toMatchObject({ state: "Sent" });
    expect(back.retrying).toBeUndefined();
    // In reality a batch is read each 30 seconds, and an audit is looked for each two minutes.
    expect(requests["evi-notice.getBatch"]["200"]).toBeLessThan(60);
    expect(requests["video-identification.getAuditData"]["404"]).toBeLessThan(120);
    // A notice that nobody reads becomes a letter at its deadline.
    const day = (instant: string) => (Date.parse(instant) - Date.parse(said.start)) / DAY_MS;
    expect(said.ofNotice).toBe("openAtDeadline");
    expect(day(said.noticeEnd)).toBeGreaterThanOrEqual(5);
    expect(served.outcome).toBe("servedByPost");
    expect(day(served.dates.escalatedAt)).toBe(3);
  },
  LIMIT_MS,
);
