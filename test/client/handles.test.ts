// The methods of handles and of the client: what each sends to its process.
import { expect, test } from "vitest";
import type { Client } from "@temporalio/client";
import { ProcessHandle } from "../../src/client/handle.js";
import { handles } from "../../src/client/processes.js";
import type { HandleOf } from "../../src/client/processes.js";
import { Starts } from "../../src/client/processes.js";
import { contractOf, processes } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";

interface Sent {
  name: string;
  args: unknown[];
  updateId: string;
}

/** A handle whose updates are kept, and answered by their name. */
function handleOf(processName: ProcessName) {
  const sent: Sent[] = [];
  const executeUpdate = async (name: string, options: Omit<Sent, "name">) => {
    sent.push({ name, ...options });
    return { answer: name };
  };
  const client = {
    workflow: { getHandle: () => ({ executeUpdate }) },
    connection: {},
    withDeadline: (_: number, call: () => unknown) => call(),
  } as unknown as Client;
  const signed: string[] = [];
  const handle = new handles[processName](client, processName, "order-7", {
    check: () => undefined,
    sign: ({ update }) => {
      signed.push(update);
      return undefined;
    },
  });
  return { handle: handle as unknown as Record<string, Method>, sent, signed };
}
type Method = (...given: unknown[]) => Promise<unknown>;

const stated = { by: "Ana Ruiz", note: "seen" };
const calls: [ProcessName, string, given: unknown[], stated: unknown[], args: unknown[]][] = [
  ["sendPostal", "cancel", [], [stated], [stated]],
  ["sendPostal", "cancel", [], [], [{}]],
  ["sendPostal", "requestAffidavit", [undefined], [], [{}]],
  ["sendPostal", "requestAffidavit", [{ includeEvents: true }], [], [{ includeEvents: true }]],
  ["sendNoticeBatch", "cancel", [], [], [{}]],
  ["sendNoticeBatch", "requestAffidavit", [{ notice: "n" }], [], [{ notice: "n" }]],
  ["serveNotice", "cancel", [], [stated], [stated]],
  ["serveNotice", "cancel", [], [], [{}]],
  ["sendNotice", "requestAffidavit", [undefined], [], [{}]],
  ["sendNotice", "requestAffidavit", [{ includeBody: true }], [], [{ includeBody: true }]],
  ["issueCertificate", "submitOtp", ["123456"], [], [{ code: "123456" }]],
  ["issueCertificate", "resendOtp", [], [], []],
  ["issueCertificate", "awaitOtp", [], [], []],
  ["issueCertificate", "provideAssertion", ["e30="], [], [{ assertion: "e30=" }]],
  ["signOneShot", "submitOtp", ["123456"], [], [{ code: "123456" }]],
  ["signOneShot", "resendOtp", [], [], []],
  ["signOneShot", "awaitOtp", [], [], []],
  ["signOneShot", "acceptContract", [false], [stated], [{ ...stated, accepted: false }]],
  ["signOneShot", "decideVideo", ["approve"], [], [{ decision: "approve" }]],
  ["signOneShot", "updateVideo", [{ room: 2 }], [], [{ providerFields: { room: 2 } }]],
  ["verifyIdentity", "rejectCall", [undefined], [], [{}]],
  [
    "verifyIdentity",
    "rejectCall",
    [{ reason: "no document" }],
    [stated],
    [{ ...stated, providerFields: { reason: "no document" } }],
  ],
];

test.each(calls)(
  "%s.%s(%j, updateId, ...%j) is the update with %j, without an id with a new one",
  async (processName, name, given, who, args) => {
    const { handle, sent, signed } = handleOf(processName);
    expect(await handle[name]!(...given, "one", ...who)).toEqual({ answer: name });
    expect(sent).toEqual([{ name, args, updateId: "one" }]);
    expect(signed).toEqual(contractOf(processName).updates[name]!.decides ? [name] : []);
    for (const _ of ["first", "second"]) await handle[name]!(...given);
    const [first, second] = sent.slice(1).map(({ updateId }) => updateId);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(first).not.toBe(second);
  },
);

test("an update refuses what JSON cannot carry, and sends nothing", async () => {
  const { handle, sent } = handleOf("signOneShot");
  const given = handle["updateVideo"]!({ room: { size: 2n } });
  await expect(given).rejects.toThrow("providerFields.room.size: must not be a bigint");
  expect(sent).toEqual([]);
});

test("every update of the registry is called above, and none hides a method that every handle has", () => {
  const called = new Set(calls.map(([processName, name]) => `${processName}.${name}`));
  const known = processes.flatMap((processName) =>
    Object.keys(contractOf(processName).updates).map((name) => ({ process: processName, name })),
  );
  expect(new Set(known.map(({ process: processName, name }) => `${processName}.${name}`))).toEqual(
    called,
  );
  for (const { process: processName, name } of known) {
    expect(name in ProcessHandle.prototype).toBe(false);
    expect(contractOf(processName).updates[name]?.name).toBe(name);
  }
});

test.each(processes)("the client starts %s by the method of its name", async (processName) => {
  const started: unknown[] = [];
  class Starting extends Starts {
    override async start(...given: unknown[]) {
      started.push(given);
      return "the handle" as never;
    }
  }
  const method = new Starting()[processName] as unknown as Method;
  expect(await method.call(new Starting(), "order-7", { account: "a" })).toBe("the handle");
  expect(started).toEqual([[processName, "order-7", { account: "a" }, undefined]]);
});

test("the types of the methods are those of their updates", () => {
  type Given<P extends ProcessName, Name extends keyof HandleOf<P>> = HandleOf<P>[Name] extends (
    ...given: infer G
  ) => unknown
    ? G
    : never;
  const decision: Given<"sendPostal", "cancel"> = ["one", stated];
  const request: Given<"sendPostal", "requestAffidavit"> = [{ includeEvents: true }, "one"];
  // @ts-expect-error: it is no decision, so it has no person.
  const named: Given<"sendPostal", "requestAffidavit"> = [{}, "one", stated];
  // @ts-expect-error: the code is missing.
  const empty: Given<"issueCertificate", "submitOtp"> = [];
  // @ts-expect-error: it is another process's update.
  const other: keyof HandleOf<"issueCertificate"> = "cancel";
  expect([decision, request, named, empty, other]).toHaveLength(5);
});
