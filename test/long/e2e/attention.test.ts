// A problem that a process cannot solve itself waits, visible and searchable, for a fix of its cause or for an operator
// decision (docs/design.md §6). Which decisions are refused is test/workflows/runtime/attention.test.ts, whom an account's circuit holds up
// test/activities/runtime/circuit-breaker.test.ts.
import { afterAll, beforeAll, expect, test } from "vitest";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AbandonedError } from "../../../src/client.js";
import type { AnyHandle, ListedProcess, PostalHandle } from "../../../src/client.js";
import { commandLine } from "../../cli/in-process.js";
import { cli } from "../../cli/run.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { historyLength, startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack();
}, 120_000);
afterAll(() => system?.close(), 60_000);

async function listed(wanted: (found: ListedProcess[]) => boolean): Promise<ListedProcess[]> {
  for (
    const end = Date.now() + 15_000;
    ;
    await new Promise((resolve) => setTimeout(resolve, 250))
  ) {
    const found: ListedProcess[] = [];
    for await (const one of system.client.list({ attention: true })) found.push(one);
    if (wanted(found) || Date.now() > end) return found;
  }
}

async function denials(): Promise<number> {
  return (await system.sandbox.requests()).total["evi-post.submit"]?.["401"] ?? 0;
}

test("a wrong password pauses every process, and all continue by themselves when it is fixed", async () => {
  await system.sandbox.putAccount("sandbox", { password: "changed" });
  const began = Date.now();
  const names = Array.from({ length: 20 }, (_, index) => `wrong-${index}`);
  const handles = await Promise.all(
    names.map((name) => system.client.sendPostal(name, letterInput(name, "delivered"))),
  );
  for (const handle of handles) {
    const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
    expect(attention).toMatchObject({
      kind: "accessDenied",
      step: "submit",
      decisions: ["retry", "abandon"],
    });
  }
  const waiting = await listed((found) => found.length === names.length);
  expect(new Map(waiting.map(({ id, attention }) => [id, attention]))).toEqual(
    new Map(names.map((name) => [name, "accessDenied"])),
  );
  // Of all processes together one probe a second goes through, and none of them leaves a trace in a history.
  const lengths = () =>
    Promise.all(handles.map(({ workflowId }) => historyLength(system, workflowId)));
  const [before, denied] = [await lengths(), await denials()];
  await eventually("more probes", async () => (await denials()) >= denied + 3);
  expect(await lengths()).toEqual(before);
  const seconds = Math.ceil((Date.now() - began) / 1_000);
  expect(await denials()).toBeLessThanOrEqual(names.length + seconds);

  await system.sandbox.putAccount("sandbox", { password: "sandbox" });
  for (const handle of handles) {
    const { outcome, timeline } = await handle.result();
    expect(outcome).toBe("delivered");
    expect(timeline.slice(0, 3)).toMatchObject([
      { source: "process", event: "Needs an operator decision: submit (accessDenied)" },
      { source: "process", event: "No longer needs an operator decision: submit (accessDenied)" },
      { source: "process", event: "Submitted" },
    ]);
    expect(timeline[0]?.note).toContain("Unauthorized");
  }
  for (const name of names) expect(await system.effects(name)).toEqual({ "evi-post.submit": 1 });
  expect(await listed((found) => found.length === 0)).toEqual([]);
}, 90_000);

async function stuck(
  name: string,
): Promise<{ handle: PostalHandle; attention: string; fault: string }> {
  const { id: fault } = await system.sandbox.addFault({
    operation: "evi-post.query",
    kind: "reject",
    status: 400,
    times: "always",
  });
  const handle = await system.client.sendPostal(name, letterInput(name, "delivered"));
  const { attention } = await statusWhere(
    handle,
    (status) => status.attention?.kind === "protocol",
  );
  return { handle, attention: attention?.id ?? "", fault };
}

test("an abandoned process fails and says what exists", async () => {
  const { handle, attention, fault } = await stuck("abandoned");
  await handle.resolve({ attention, decision: "abandon", by: "Ada", note: "enough" });
  const failed = handle.result();
  await expect(failed).rejects.toThrow(AbandonedError);
  await expect(failed).rejects.toMatchObject({
    decision: { effect: "exists", by: "Ada", note: "enough" },
  });
  const { failure, attention: open } = await handle.status();
  expect(failure).toEqual({
    ...{ type: "Abandoned", message: "Abandoned at ask", fields: [] },
    abandoned: { attention, effect: "exists", by: "Ada", note: "enough" },
  });
  expect(open).toBeUndefined();
  const { env } = system.stack;
  const shown = await commandLine(["status", "abandoned"], { env });
  expect(shown.stdout).toMatch(/effect +exists\n +abandoned by +Ada\n +note +enough/);
  const out = await mkdtemp(join(tmpdir(), "trustflow-evidence-"));
  const saved = await commandLine(["evidence", "abandoned", "--out", out, "--json"], { env });
  await rm(out, { recursive: true });
  expect(JSON.parse(saved.stdout)).toMatchObject({
    processes: [{ state: "FAILED", failure }],
    files: [{ kind: "submitted" }],
  });
  await system.sandbox.removeFault(fault);
}, 60_000);

/** A message whose answer was lost, so its outcome is unknown. */
async function lostMessage(id: string): Promise<{ handle: AnyHandle; attention: string }> {
  const handle = await system.client.sendMessage(id, {
    providerFields: { clientReference: id, sandbox: "send=cut" },
  });
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({
    kind: "unknownOutcome",
    retryNeeds: ["confirmRetry", "note"],
  });
  return { handle, attention: attention?.id ?? "" };
}

/** What the Web UI shows of it. */
async function detailsOf({ workflowId }: AnyHandle): Promise<string> {
  const handle = system.client.temporal.workflow.getHandle(workflowId);
  const { currentDetails } = await handle.query<{ currentDetails: string }>(
    "__temporal_workflow_metadata",
  );
  return currentDetails;
}

test("nothing that the Web UI offers for copying decides anything as it stands", async () => {
  const { handle: message } = await lostMessage("pasted");
  await system.client.temporal.workflow.getHandle(message.workflowId).cancel();
  await statusWhere(message, ({ moreAttentions = [] }) => moreAttentions.length === 1);
  const denied = await system.client.sendPostal(
    "pasted",
    letterInput("pasted", "delivered,submit=reject-401*999"),
  );
  const { handle: unclear, fault } = await stuck("pasted-unclear");
  await statusWhere(denied, (status) => status.attention !== undefined);
  const folder = await mkdtemp(join(tmpdir(), "trustflow-pasted-"));
  await writeFile(
    join(folder, "trustflow"),
    `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`,
    { mode: 0o755 },
  );
  const path = `${folder}:${process.env["PATH"] ?? ""}`;
  for (const handle of [message, denied, unclear]) {
    const before = await handle.status();
    const details = await detailsOf(handle);
    const blocks = [...details.matchAll(/^```\n([^]*?)^```$/gm)].map(([, block = ""]) => block);
    const offered = [before.attention!, ...(before.moreAttentions ?? [])].flatMap(
      ({ decisions }) => decisions,
    );
    expect(blocks).toHaveLength(offered.length);
    for (const decision of offered) expect(details).toContain(`- Decision **${decision}**: `);
    for (const block of blocks) {
      const env = { ...system.stack.env, PATH: path };
      const pasted = promisify(execFile)("sh", ["-c", block], { env });
      await expect(pasted).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining("--by"),
      });
    }
    const after = await handle.status();
    expect(after.attention).toEqual(before.attention);
    expect(after.timeline.filter(({ source }) => source === "person")).toEqual([]);
  }
  expect(await detailsOf(message)).toContain("causes a second effect if the first attempt arrived");
  await system.sandbox.removeFault(fault);
  await rm(folder, { recursive: true });
}, 90_000);
