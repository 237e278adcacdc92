// `resolve --where` decides for many processes, and `logs` shows what all of them do, on the whole system.
import { beforeAll, expect, test } from "vitest";
import { join } from "node:path";
import type { PostalHandle } from "../../../../src/client.js";
import { commandLine } from "../../../cli/in-process.js";
import { eventually } from "../../../harness/outages/wait.js";
import { statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";
import { temporaryFolder } from "../../../harness/temporary.js";
import { messageInput } from "../../../processes/send-message/inputs.js";
import { letterInput } from "../../../processes/send-postal/inputs.js";

interface Answer {
  id: string;
  answer: string;
}

/** First on its system: it counts what needs a decision. */
export function testMany(stack: () => TestStack): void {
  let system: TestStack;
  beforeAll(() => {
    system = stack();
  });

  async function resolve(...args: string[]) {
    const given = ["resolve", "--by", "Ana Ruiz", "--json", ...args];
    const { code, stdout, stderr } = await commandLine(given, { env: system.stack.env });
    return { code, answers: JSON.parse(stdout || "[]") as Answer[], stderr };
  }

  /** A letter of which the provider refuses to say where it is. */
  async function beginRefused(id: string): Promise<PostalHandle> {
    await system.sandbox.addFault({
      ...{ operation: "evi-post.query", kind: "reject", status: 400 },
      ...{ times: "always", lookupKey: id },
    });
    const handle = await system.client.sendPostal(id, letterInput(id, "delivered"));
    await statusWhere(handle, ({ attention }) => attention !== undefined);
    return handle;
  }

  async function untilListed(count: number): Promise<void> {
    await eventually(`visibility shows ${count} of them`, async () => {
      let found = 0;
      for await (const _ of system.client.list({ attention: true })) found += 1;
      return found === count;
    });
  }

  test("resolve --where decides for each process once, as it has shown before, and does not stop at one that refuses", async () => {
    const letters = await Promise.all(["a", "b", "c"].map(beginRefused));
    const lost = messageInput("lost", "send=cut-after-commit");
    const message = await system.client.sendMessage("lost", lost);
    await statusWhere(message, ({ attention }) => attention !== undefined);
    await untilListed(4);

    // The newest is the first: the message refuses, and the letters after it are decided.
    const every = ["--where", "state=running", "--decision", "retry", "--note", "looked at"];
    const refused = { id: "sendMessage/lost", exitCode: 2 };
    const tried = await resolve(...every, "--dry-run");
    expect([tried.code, tried.answers]).toMatchObject([
      2,
      [
        { ...refused, answer: "wouldBeRefused" },
        ...letters.map(() => ({ answer: "wouldBeDecided" })),
      ],
    ]);
    for (const timeline of await Promise.all(letters.map((letter) => letter.timeline())))
      expect(timeline.map(({ source }) => source)).not.toContain("person");
    const decided = await resolve(...every);
    expect([decided.code, decided.answers]).toMatchObject([
      2,
      [{ ...refused, answer: "InvalidInputError" }, ...letters.map(() => ({ answer: "resolved" }))],
    ]);

    for (const letter of letters) {
      await statusWhere(letter, ({ attention }) => attention !== undefined);
      // A status has the newest entries only: callbacks may have come since.
      const byPersons = (await letter.timeline()).filter(({ source }) => source === "person");
      expect(byPersons).toMatchObject([{ by: "Ana Ruiz", note: "looked at" }]);
    }
    await untilListed(4);
    const abandon = ["--where", "kind=protocol", "--decision", "abandon"];
    expect(await resolve(...abandon)).toMatchObject({
      code: 0,
      answers: letters.map(() => ({
        id: expect.stringContaining("sendPostal/"),
        answer: "resolved",
      })),
    });
    for (const letter of letters) {
      const { failure } = await statusWhere(letter, ({ phase }) => phase === "ended");
      expect(failure).toMatchObject({
        ...{ type: "Abandoned", message: "Abandoned at ask" },
        abandoned: { effect: "exists", by: "Ana Ruiz" },
      });
      const out = join(await temporaryFolder(), "evidence");
      const saved = await commandLine(["evidence", letter.workflowId, "--out", out, "--json"], {
        env: system.stack.env,
      });
      expect(JSON.parse(saved.stdout)).toMatchObject({
        processes: [{ state: "FAILED", failure }],
        files: [{ kind: "submitted" }],
      });
    }
    await untilListed(1);
    expect(await resolve(...abandon)).toMatchObject({ code: 0, answers: [] });
  }, 120_000);
}
