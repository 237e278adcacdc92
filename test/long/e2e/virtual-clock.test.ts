// `Trustflow.embedded({ clock: "virtual" })`: processes and providers by one clock, which stands still until a test moves it. The sixty days
// of a letter are those of examples/testing, which test/long/docs runs.
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

/** What the program prints, once it has ended by itself. */
async function ended({ child, lines }: ReturnType<typeof program>) {
  const exit = once(child, "exit");
  const said = JSON.parse((await lines.next()).value);
  expect(await exit).toEqual([0, null]);
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
  "a letter whose every task is a replay is delivered, and every time is that of the clock",
  async () => {
    const { settings: _, ...letter } = await example("letter");
    const input = { ...letter, recipientName: "sandbox:delivered" };
    const said = await ended(
      program(
        withoutCache,
        `const began = performance.now();
        const { clock, sandbox } = trustflow;
        const start = clock.now();
        const letter = await trustflow.sendPostal("order-1", ${JSON.stringify(input)});
        await clock.advance("2 days");
        const day2 = { ...(await letter.status()), now: clock.now(), sandbox: (await sandbox.clock()).now, isOpen: await letter.isOpen() };
        const result = await clock.runUntil(letter.result());
        const end = clock.now();
        const idle = await clock.runUntil(new Promise(() => {})).catch(({ message }) => message);
        const alone = await Promise.resolve().then(() => sandbox.advance(1)).catch(({ message }) => message);
        const { byIntent } = await sandbox.ledger();
        const { newest } = await sandbox.callbacks();
        console.log(JSON.stringify({ start, day2, result, end, idle, alone, byIntent, newest, seconds: (performance.now() - began) / 1000 }));
        await trustflow.close();`,
      ),
    );
    const { start, day2, result, end, newest } = said;
    const day = (instant: string | number) =>
      (new Date(instant).getTime() - Date.parse(start)) / DAY_MS;
    expect(day2).toMatchObject({ isOpen: true, state: "Sent", sandbox: day2.now });
    expect(day(day2.now)).toBe(2);
    expect(result.outcome).toBe("delivered");
    const { timeline } = result;
    const times = timeline.map((entry: { at: string }) => entry.at);
    expect(times).toEqual(times.toSorted());
    expect(at(timeline, "Delivered", "callback") - at(timeline, "Sent", "callback")).toBe(
      2 * DAY_MS,
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
    expect(said.seconds).toBeLessThan(120);
  },
  LIMIT_MS,
);

test(
  "a notice that nobody reads becomes a letter at its deadline, and processes of two programs live by the same clock",
  async () => {
    const { notice, post } = await example("serve");
    const input = {
      notice: { ...notice, recipientDisplayName: "sandbox:received" },
      post,
      settings: { deadlineSeconds: (3 * DAY_MS) / 1000, lookIntervalSeconds: 21_600 },
    };
    const { settings: _, ...alone } = await example("notice");
    const other = {
      ...alone,
      recipientDisplayName: "sandbox:open",
      settings: { deadlineSeconds: (5 * DAY_MS) / 1000 },
    };
    const said = await ended(
      program(
        { clock: "virtual" },
        `await trustflow.clock.advance("30 days");
        const start = trustflow.clock.now();
        const { Trustflow: Client } = await import("trustflow-client");
        const client = await Client.connect({ env: trustflow.env });
        const serving = await client.serveNotice("order-2", ${JSON.stringify(input)});
        const notice = await trustflow.sendNotice("order-3", ${JSON.stringify(other)});
        const { outcome: ofNotice, timeline: toldByNotice } = await trustflow.clock.runUntil(notice.result());
        const noticeEnd = trustflow.clock.now();
        const served = await trustflow.clock.runUntil(serving.result());
        await client.close();
        console.log(JSON.stringify({ start, ofNotice, toldByNotice, noticeEnd, served }));
        await trustflow.close();`,
      ),
    );
    const day = (instant: string) => (Date.parse(instant) - Date.parse(said.start)) / DAY_MS;
    expect(said.ofNotice).toBe("openAtDeadline");
    expect(day(said.noticeEnd)).toBeGreaterThanOrEqual(5);
    expect(said.served.outcome).toBe("servedByPost");
    expect(day(said.served.dates.escalatedAt)).toBe(3);
  },
  LIMIT_MS,
);
