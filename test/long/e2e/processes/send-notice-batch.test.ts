// An affidavit on demand of one notice of a batch, on the whole system (P2 §4.2, §4.3).
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { HandleOf, SendNoticeBatchInput } from "../../../../src/client.js";
import { trustflow } from "../../../cli/run.js";
import { eventually } from "../../../harness/outages/wait.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";
import {
  batchInput,
  fastSettings,
  withAttachment,
} from "../../../processes/send-notice-batch/inputs.js";

let system: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trustflow-batch-"));
  system = await startTestStack({ sandboxSpeed: 60 });
}, 120_000);
afterAll(async () => {
  await system?.close();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

type BatchHandle = HandleOf<"sendNoticeBatch">;

/** Its notices stay open until they are read. */
async function sent(id: string, more: Partial<SendNoticeBatchInput> = {}) {
  const input = batchInput(id, ["open", "open"], {
    affidavitKinds: ["Submitted", "OnDemand"],
    attachments: [withAttachment()],
    settings: { ...fastSettings, deadlineSeconds: 3_600 },
    ...more,
  });
  const handle = await system.client.sendNoticeBatch(id, input);
  await statusWhere(handle, ({ totals }: any) => totals !== undefined);
  return { handle, notices: await noticesOf(handle) };
}

/** As an operator lists them. */
async function noticesOf({ workflowId }: BatchHandle): Promise<string[]> {
  const { stdout, stderr } = await trustflow(["recipients", workflowId, "--json"], {
    env: system.stack.env,
  });
  expect(stderr).toBe("");
  const rows = stdout.trim().split("\n");
  return rows.map((row) => (JSON.parse(row) as { evidenceUniqueId: string }).evidenceUniqueId);
}

const requests = async () =>
  Object.values(
    (await system.sandbox.requests()).total["evi-notice.affidavitRequest"] ?? {},
  ).reduce((sum, one) => sum + one, 0);

async function run(args: string[]) {
  const { code, stdout, stderr } = await trustflow([...args, "--json"], { env: system.stack.env });
  return { code, said: stderr, answer: JSON.parse(stdout === "" ? "null" : stdout) };
}

test("a person requests an affidavit of one notice, and saves it", async () => {
  const { handle, notices } = await sent("on-demand");
  const [notice = ""] = notices;
  const asked = ["request-affidavit", handle.workflowId, "--notice", notice, "--include-body"];
  const requested = await run(asked);
  expect(requested).toMatchObject({ code: 0, answer: { answer: "requested" } });
  const listed = async () => {
    const { answer } = await run(["provider", "affidavits", notice]);
    return (answer?.affidavits ?? []).some(({ kind }: { kind?: string }) => kind === "OnDemand");
  };
  await eventually("it is published", listed, 60_000);
  const saved = await run(["provider", "affidavits", notice, "--out", folder]);
  expect(saved.answer.files).toHaveLength(saved.answer.affidavits.length);
  for (const { file } of saved.answer.files)
    expect((await readFile(file)).subarray(0, 5).toString()).toBe("%PDF-");
  const history = async () => {
    const { answer } = await run(["recipients", handle.workflowId, "--history", notice]);
    return answer.some(({ kind }: { kind: string }) => kind === "AffidavitPublished");
  };
  await eventually("its callback is known", history, 60_000);
  const { timeline } = await handle.status();
  expect(timeline).toContainEqual(
    expect.objectContaining({
      event: "Affidavit on demand: requested",
      note: `notice ${notice}`,
    }),
  );
});

test("the same update is one request, and an answer that is lost is told as unknown", async () => {
  const { handle, notices } = await sent("asked-once");
  const [notice = "", other = ""] = notices;
  const before = await requests();
  const first = await handle.requestAffidavit({ notice }, "one");
  expect(first).toMatchObject({ answer: "requested" });
  expect(await handle.requestAffidavit({ notice }, "one")).toEqual(first);
  expect(await requests()).toBe(before + 1);
  const lost = { operation: "evi-notice.affidavitRequest", kind: "cut-after-commit" } as const;
  await system.sandbox.addFault(lost);
  expect(await handle.requestAffidavit({ notice: other })).toEqual({ answer: "unknown" });
  expect(await requests()).toBe(before + 2);
});

test("no notice of another batch, none without OnDemand, and no closed one", async () => {
  const { handle } = await sent("mine");
  const others = await sent("theirs");
  const before = await requests();
  expect(await handle.requestAffidavit({ notice: others.notices[0]! })).toEqual({
    answer: "notFound",
  });
  const without = await sent("without", { affidavitKinds: ["Submitted"] });
  expect(await without.handle.requestAffidavit({ notice: without.notices[0]! })).toEqual({
    answer: "notEligible",
  });
  expect(await requests()).toBe(before);
});

test.each([
  [{}, "notice must be the id of a notice of the batch"],
  [{ notice: "" }, "notice must be the id of a notice of the batch"],
  [{ notice: "x", includeBody: "yes" }, "includeBody must be true or false"],
  [{ notice: "x", includeDocument: true }, "includeDocument is not known"],
])("%j is refused, and the field named", async (asked, message) => {
  const { handle } = {
    handle: await system.client.sendNoticeBatch("refused", batchInput("refused")),
  };
  await expect(handle.requestAffidavit(asked as never)).rejects.toThrow(message);
});
