// What a process cannot settle itself waits for a cause to be mended or for a person, visible and searchable (DESIGN §6).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { AbandonedError, InvalidInputError } from "../../src/client.js";
import type { ListedProcess, PostalHandle } from "../../src/client.js";
import { letterInput } from "../support/letters.js";
import { startTestStack, statusWhere } from "../support/stack.js";
import type { TestStack } from "../support/stack.js";

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

test("a wrong password pauses every process, and all go on by themselves when it is mended", async () => {
  await system.sandbox.putAccount("sandbox", { password: "changed" });
  const names = ["wrong-1", "wrong-2", "wrong-3"];
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

  await system.sandbox.putAccount("sandbox", { password: "sandbox" });
  for (const handle of handles) expect((await handle.result()).outcome).toBe("delivered");
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

test("an answer that cannot be understood waits for a person, who is named in the timeline", async () => {
  const { handle, attention, fault } = await stuck("protocol");
  expect(attention).toBe("ask-1");
  const stale = handle.resolve({ attention: "ask-99", decision: "retry", by: "Ada" });
  await expect(stale).rejects.toThrow(InvalidInputError);
  const unfit = handle.resolve({ attention, decision: "happened", by: "Ada", result: {} });
  await expect(unfit).rejects.toMatchObject({ fields: [{ path: "decision" }] });
  await system.sandbox.removeFault(fault);
  expect(await handle.resolve({ attention, decision: "retry", by: "Ada", note: "mended" })).toEqual(
    { answer: "resolved" },
  );
  const result = await handle.result();
  expect(result.outcome).toBe("delivered");
  expect(result.timeline).toContainEqual(
    expect.objectContaining({ source: "person", by: "Ada", note: "mended", event: "retry: ask" }),
  );
}, 60_000);

test("an abandoned process fails and says what exists", async () => {
  const { handle, attention, fault } = await stuck("abandoned");
  await handle.resolve({ attention, decision: "abandon", by: "Ada", note: "enough" });
  const failed = handle.result();
  await expect(failed).rejects.toThrow(AbandonedError);
  await expect(failed).rejects.toMatchObject({
    details: { effect: "exists", by: "Ada", note: "enough" },
  });
  await system.sandbox.removeFault(fault);
}, 60_000);

test("a process that was abandoned can be started again and takes up what exists", async () => {
  const handle = await system.client.sendPostal("abandoned", letterInput("abandoned", "delivered"));
  expect((await handle.result()).outcome).toBe("delivered");
  expect(await system.effects("abandoned")).toEqual({ "evi-post.submit": 1 });
}, 60_000);
