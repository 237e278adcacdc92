// `trustflow start PROCESS --csv FILE` on the whole system: a command that is killed in the middle is run again, and each letter is sent
// once.
import { afterAll, beforeAll, expect, test } from "vitest";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../cli/in-process.js";
import { start } from "../cli/run.js";
import { eventually } from "../harness/outages/wait.js";
import type { TestStack } from "../harness/stack/stack.js";
import { letterPdf } from "../processes/send-postal/inputs.js";

const LETTERS = 30;
const header =
  "id,document.path,recipientName,recipientAddress.streetAddress,recipientAddress.postalCode,recipientAddress.locality,recipientAddress.region,recipientAddress.country,lookupKey,settings.pollIntervalSeconds";

let system: TestStack;
let folder: string;

export function testStartMany(stack: () => TestStack): void {
  beforeAll(async () => {
    system = stack();
    folder = await mkdtemp(join(tmpdir(), "trustflow-start-many-"));
    await writeFile(join(folder, "letter.pdf"), letterPdf);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const ids = Array.from({ length: LETTERS }, (_, index) => `many-${index + 1}`);
  const result = () => join(folder, "result.csv");

  /** `streets`: of the rows whose street is another one. */
  async function letters(streets: Record<string, string> = {}) {
    const rows = ids.map((id) => {
      const street = streets[id] ?? "Calle Mayor 1";
      return `${id},letter.pdf,sandbox:delivered,${street},28013,Madrid,Madrid,ES,${id},30`;
    });
    const csv = join(folder, "letters.csv");
    await writeFile(csv, `${[header, ...rows].join("\n")}\n`);
    return ["start", "sendPostal", "--csv", csv, "--result", result()];
  }

  /** What the last line of each id says. */
  async function results(): Promise<Record<string, string>> {
    const text = await readFile(result(), "utf8").catch(() => "");
    return Object.fromEntries(
      Array.from(text.matchAll(/^"(many-\d+)","(\w+)","(\w*)"/gm), ([, id, what, error]) => [
        id,
        error ? `${what} ${error}` : what,
      ]),
    );
  }

  const counted = async (word: string) =>
    Object.values(await results()).filter((what) => what === word).length;

  test("a command that was killed in the middle is run again: nothing is lost, and each letter is sent once", async () => {
    const command = await letters();
    const killed = start([...command, "--concurrency", "1"], { env: system.stack.env });
    await eventually("some letters are started", async () => (await counted("started")) >= 5);
    killed.kill("SIGKILL");
    await once(killed, "close");
    const before = await results();
    expect(Object.keys(before).length).toBeLessThan(LETTERS);

    const again = await commandLine(command, { env: system.stack.env });
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).toMatch(/started +\d+\njoined +\d+, which were there already\n/);
    const after = await results();
    expect(Object.keys(after).toSorted()).toEqual(ids.toSorted());
    for (const id of Object.keys(before)) expect(after[id]).toBe("started");
    for (const what of Object.values(after)) expect(["started", "joined"]).toContain(what);

    for (const id of ids)
      await eventually(`the submit of ${id}`, async () => {
        const { "evi-post.submit": submits = 0 } = await system.effects(id);
        return submits > 0;
      });
    const { byIntent } = await system.sandbox.ledger();
    for (const id of ids) expect([id, byIntent[id]]).toEqual([id, { "evi-post.submit": 1 }]);
  }, 180_000);

  test("a signal ends it in order: what is being started is finished, and the rest is not started", async () => {
    await rm(result());
    const command = await letters();
    const child = start([...command, "--concurrency", "1"], { env: system.stack.env });
    await eventually("some letters are joined", async () => (await counted("joined")) >= 3);
    child.kill("SIGTERM");
    const [, signal] = await once(child, "close");
    expect(signal).toBe("SIGTERM");
    expect(Object.keys(await results())).toHaveLength(ids.length);
    expect(await counted("notStarted")).toBeGreaterThan(0);
  }, 60_000);
}
