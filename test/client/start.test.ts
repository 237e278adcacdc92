// A start as its caller meets it: whether it created the process or joined one, its options, and how long it waits.
import { expect, test } from "vitest";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { InputMismatchError, InvalidInputError, TimedOutError } from "../../src/client.js";
import { statusMemo } from "../../src/contracts/shared/names.js";
import { letterInput } from "../processes/send-postal/inputs.js";
import { startServerAndClient } from "../temporal/support.js";
import { ofFile } from "../harness/of-file.js";

const server = ofFile(startServerAndClient);

const letter = letterInput("i", "delivered");

test("a start says whether it created the process, or joined one that is open or finished", async () => {
  const id = randomUUID();
  const first = await server.trustflow.sendPostal(id, letter);
  expect(first.started).toBe("created");
  expect((await server.trustflow.sendPostal(id, letter)).started).toBe("joined");
  expect(server.trustflow.handle(`sendPostal/${id}`).started).toBeUndefined();
  await server.trustflow.temporal.workflow.getHandle(first.workflowId).terminate();
  expect((await server.trustflow.sendPostal(id, letter)).started).toBe("created");
});

test("another input under the same id is refused, with the paths that differ and no value", async () => {
  const id = randomUUID();
  await server.trustflow.sendPostal(id, letter);
  const { recipientAddress } = letter;
  const other = {
    ...letter,
    document: {
      base64: Buffer.from("%PDF-1.7 other").toString("base64"),
      mediaType: "application/pdf",
    },
    recipientAddress: { ...recipientAddress, streetAddress: "Calle Secreta 9" },
    issuerComments: "Ana Ruiz",
  };
  const refused = (await server.trustflow
    .sendPostal(id, other)
    .catch((error: unknown) => error)) as Error;
  expect(refused).toBeInstanceOf(InputMismatchError);
  const members = ["document", "issuerComments", "recipientAddress.streetAddress"];
  const { details } = refused as InputMismatchError;
  expect({ ...details, members: details.members?.toSorted() }).toEqual({
    id: `sendPostal/${id}`,
    members,
  });
  expect(refused.message).not.toMatch(/Secreta|Ana/);
  const again = { ...letter, settings: { pollIntervalSeconds: 9 } };
  expect((await server.trustflow.sendPostal(id, again)).started).toBe("joined");
});

test("Temporal's options of a start arrive, and what is not metadata is encrypted", async () => {
  const id = randomUUID();
  const { workflowId } = await server.trustflow.sendPostal(id, letter, {
    memo: { tenant: "a tenant" },
    priority: { priorityKey: 2 },
    startDelay: "1 hour",
    staticSummary: "a summary",
    staticDetails: "a detail",
  });
  const run = server.trustflow.temporal.workflow.getHandle(workflowId);
  expect((await run.describe()).memo).toEqual({ tenant: "a tenant" });
  const { events } = await run.fetchHistory();
  const { firstWorkflowTaskBackoff, priority, memo } =
    events![0]!.workflowExecutionStartedEventAttributes!;
  expect(Number(firstWorkflowTaskBackoff?.seconds)).toBe(3_600);
  expect(priority?.priorityKey).toBe(2);
  const { summary, details } = events![0]!.userMetadata!;
  expect(JSON.stringify([memo, summary, details].map(String))).not.toMatch(/tenant"|a summary/);
  const { loadedDataConverter } = server.trustflow.temporal.options;
  const said = await decodeArrayFromPayloads(loadedDataConverter, [summary!, details!]);
  expect(said).toEqual(["a summary", "a detail"]);
});

test("a memo that clients would take for that of the workers is refused", async () => {
  const memo = { [statusMemo]: { phase: "ended" } };
  const refused = server.trustflow.sendPostal(randomUUID(), letter, { memo });
  await expect(refused).rejects.toThrow(InvalidInputError);
});

test("each call that waits ends at the signal and at the time of its caller", async () => {
  const handle = await server.trustflow.sendPostal(randomUUID(), letter);
  const reason = new Error("the user has left");
  const watched = async (waiting: { signal?: AbortSignal; timeoutMs?: number }) => {
    for await (const _ of handle.watch(waiting));
  };
  const updateId = randomUUID();
  const waits = [
    handle.result.bind(handle),
    watched,
    (waiting: object) => handle.cancel({ updateId, ...waiting }),
    (waiting: object) => handle.fullStatus(waiting),
  ];
  for (const wait of waits) {
    await expect(wait({ timeoutMs: 300 })).rejects.toThrow(TimedOutError);
    const abort = new AbortController();
    void delay(200).then(() => abort.abort(reason));
    await expect(wait({ signal: abort.signal })).rejects.toBe(reason);
    await expect(wait({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  }
  const late = handle.cancel({ updateId, timeoutMs: 300 });
  await expect(late).rejects.toMatchObject({ updateId, details: { timeoutMs: 300, updateId } });
  await expect(late).rejects.toThrow(
    `repeat it with the update id ${updateId} (command line: --update-id ${updateId})`,
  );
  await expect(handle.cancel({ timeoutMs: 300 })).rejects.toHaveProperty("details.updateId");
  await expect(handle.status({ timeoutMs: 0 })).rejects.toMatchObject({
    details: { timeoutMs: 0 },
  });
  const signal = AbortSignal.abort(reason);
  const id = randomUUID();
  await expect(server.trustflow.sendPostal(id, letter, { signal })).rejects.toBe(reason);
  await expect(server.trustflow.find(id, { signal })).rejects.toBe(reason);
  await expect(server.trustflow.find(id)).rejects.toThrow(`Unknown process ${id}`);
}, 30_000);
