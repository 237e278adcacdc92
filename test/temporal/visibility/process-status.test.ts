// A question about the status takes the place of a workflow task, so a client asks few of them at once.
import { expect, test } from "vitest";
import type { Client } from "@temporalio/client";
import { queryStatus } from "../../../src/temporal/visibility/process-status.js";

test("a client asks four questions at a time, in their order, and an error gives its place to the next", async () => {
  const asked: string[] = [];
  const answers = new Map<string, (failed: boolean) => void>();
  const query = (id: string) =>
    new Promise((resolve, reject) => {
      asked.push(id);
      answers.set(id, (failed) => (failed ? reject(new Error(id)) : resolve(id)));
    });
  const client = {
    connection: {},
    workflow: { getHandle: (id: string) => ({ query: () => query(id) }) },
  } as unknown as Client;
  const ids = Array.from({ length: 9 }, (_, index) => `p${index}`);
  const settled = Promise.allSettled(ids.map((id) => queryStatus(client, id)));
  const answered: string[] = [];
  while (answered.length < ids.length) {
    await new Promise((done) => setImmediate(done));
    expect(asked).toEqual(ids.slice(0, Math.min(answered.length + 4, ids.length)));
    const id = asked.find((one) => !answered.includes(one)) ?? "none";
    answered.push(id);
    answers.get(id)?.(answered.length % 3 === 0);
  }
  const failed = (await settled).map(({ status }) => status === "rejected");
  expect(failed).toEqual(ids.map((_, index) => (index + 1) % 3 === 0));
});
