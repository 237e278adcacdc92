// A holder's code, a fresh assertion and a person's decision by command, on the whole system; the code on a terminal too.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  assertionInput,
  assertionOf,
  codeFor,
  holderInput,
  wrongCode,
} from "../../../processes/issue-certificate/inputs.js";
import { fastSettings, letterInput } from "../../../processes/send-postal/inputs.js";
import { startTestStack, statusWhere, type TestStack } from "../../../harness/stack/stack.js";
import { onTerminal } from "../../../harness/stack/terminal.js";
import { commandLine } from "../../../cli/in-process.js";
import { temporaryFolder } from "../../../harness/temporary.js";
import { testStartedAgain } from "../../e2e/started-again.js";

let system: TestStack;
const folder = await temporaryFolder();

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: 1 });
}, 120_000);
afterAll(() => system?.close(), 60_000);

/** `answer` is what it printed as JSON. */
async function run(args: string[], stdin = "") {
  const { code, stdout, stderr } = await commandLine([...args, "--json"], {
    env: system.stack.env,
    stdin,
  });
  const answer = JSON.parse(stdout === "" ? "null" : stdout) as Record<string, unknown> | null;
  return { code, answer, said: stdout + stderr };
}

test("a fresh assertion comes from a file, as JSON or in base64", async () => {
  const old = new Date(Date.now() - 3_600_000);
  const input = assertionInput("eid", old);
  const handle = await system.client.issueCertificate("eid", input);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "a new eID assertion");
  const file = join(folder, "assertion.json");
  await writeFile(file, Buffer.from(assertionOf("eid", old), "base64"));
  expect(await run(["assertion", "eid", "--file", file])).toMatchObject({
    code: 1,
    answer: { answer: "expired" },
  });
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "a new eID assertion");
  const base64 = `${assertionOf("eid", new Date()).replaceAll(/.{76}/g, "$&\n")}\n`;
  expect(await run(["assertion", "eid", "--file", "-"], base64)).toMatchObject({
    code: 0,
    answer: { answer: "accepted" },
  });
  expect(await run(["assertion", "eid", "--file", file])).toMatchObject({
    code: 1,
    answer: { answer: "notAwaited" },
  });
});

/** An enrolment whose answer was lost: the command that says it happened, and what the provider has of it. */
async function lostEnrolment(id: string) {
  const input = holderInput(id, "enroll=cut-after-commit");
  const handle = await system.client.issueCertificate(id, input);
  await statusWhere(handle, ({ attention }) => attention !== undefined);
  const [item] = (await system.sandbox.items({ intent: id })).items;
  const { deviceCode } = await system.sandbox.item(item?.id ?? "");
  const command = ["resolve", id, "--decision", "happened", "--by", "Ada", "--result", "-"];
  return { command, result: { certIdOtp: Number(item?.id), deviceCode: String(deviceCode) } };
}

test("the step's result comes from stdin, so that its secret stands on no command line", async () => {
  const { command, result } = await lostEnrolment("lost");
  const { code, answer, said } = await run(command, JSON.stringify(result, undefined, 2));
  expect([code, answer]).toMatchObject([0, [{ answer: "resolved" }]]);
  expect(said).not.toContain(result.deviceCode);
});

test("on a terminal the command asks for the step's result, reads to the end of its JSON, and does not show it", async () => {
  const { command, result } = await lostEnrolment("typed");
  const terminal = onTerminal(command, system.stack.env);
  const prompt = "The step's result as JSON (not shown";
  await terminal.shows(prompt);
  const [first = "", ...others] = JSON.stringify(result, undefined, 2).split("\n");
  terminal.type(`${first}\r`);
  await terminal.shows(prompt, 2);
  terminal.type(`${others.join("\r")}\r`);
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toContain("resolved");
  for (const shown of ["certIdOtp", result.deviceCode])
    expect(terminal.shown()).not.toContain(shown);
});

test("a second cancel says that it is cancelled, and the evidence is what the process has, before and after the end", async () => {
  const letter = letterInput("twice", "cancellable", { settings: fastSettings });
  const handle = await system.client.sendPostal("twice", letter);
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  const evidence = (id: string) => run(["evidence", id, "--out", join(folder, id)]);
  const soFar = { files: [{ name: expect.stringMatching(/^[\d-]{10}-submitted\.pdf$/) }] };
  const open = await evidence("twice");
  expect(open).toMatchObject({ code: 0, answer: { ...soFar, processes: [{ state: "RUNNING" }] } });
  expect(open.said).toContain("sendPostal/twice is still open: these are its documents so far");
  const manifest = await readFile(join(folder, "twice", "manifest.json"), "utf8");
  expect(JSON.parse(manifest)).toEqual(open.answer);
  expect(await run(["cancel", "twice"])).toMatchObject({ code: 0 });
  expect((await handle.result()).outcome).toBe("cancelled");
  expect(await run(["cancel", "twice"])).toMatchObject({
    code: 1,
    said: expect.stringContaining("sendPostal/twice is already cancelled"),
  });
  await expect(handle.requestAffidavit()).rejects.toThrow(
    "sendPostal/twice has ended as cancelled",
  );

  expect(await evidence("twice")).toMatchObject({
    code: 0,
    answer: { ...soFar, processes: [{ state: "COMPLETED", outcome: "cancelled" }] },
  });
  const other = await run(["evidence", "issueCertificate/eid", "--out", join(folder, "twice")]);
  expect(other.code).toBe(2);
  expect(other.said).toContain("is not of issueCertificate/eid: choose another folder");
  const none = await evidence("issueCertificate/eid");
  expect(none).toMatchObject({ code: 0, answer: { files: [] } });
  expect(none.said).toContain("issueCertificate/eid has no documents");
});

test("an ID with a mistyped process names the one that was meant", async () => {
  const mistyped = await run(["status", "sendPostl/twice"]);
  expect(mistyped.code).toBe(3);
  expect(mistyped.said).toContain("is not a process");
  expect(mistyped.said).toContain("did you mean sendPostal (known: sendPostal, sendNotice");
  expect(await run(["status", "sendPostal/a/b"])).toMatchObject({ code: 3 });
});

test("on a terminal, watching asks for the code until it is accepted, and does not show it", async () => {
  const input = join(folder, "holder.json");
  await writeFile(input, JSON.stringify(holderInput("watched")));
  const watch = ["issue-certificate", "--input", input, "--id", "watched", "--watch"];
  const terminal = onTerminal(watch, system.stack.env);
  const prompt = "The holder's code for issueCertificate/watched";
  const first = await codeFor(system.sandbox, "watched");
  await terminal.shows(prompt);
  terminal.type(`${wrongCode(first)}\r`);
  await terminal.shows("triesLeft  4");
  await terminal.shows(prompt, 2);
  terminal.type("\r");
  await terminal.shows("resendsLeft  2");
  await terminal.shows(prompt, 3);
  const second = await codeFor(system.sandbox, "watched", 1);
  terminal.type(`${second}\r`);
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toContain("outcome issued");
  for (const code of [first, second, wrongCode(first)])
    expect(terminal.shown()).not.toContain(code);
  expect(terminal.shown().split(prompt)).toHaveLength(4);
});

test("on a terminal, otp asks; Ctrl-C ends it and a watch, Ctrl-D leaves a watch going on", async () => {
  await system.client.issueCertificate("asked", holderInput("asked"));
  const code = await codeFor(system.sandbox, "asked");
  const ask = (args: string[]) => onTerminal(args, system.stack.env);
  const prompt = "The holder's code";
  const interrupted = ask(["otp", "asked"]);
  await interrupted.shows(prompt);
  interrupted.type("\u0003");
  expect(await interrupted.ended).toBe(130);

  const watched = ask(["watch", "asked"]);
  await watched.shows(prompt);
  watched.type("12\u0003");
  expect(await watched.ended).toBe(130);

  const goesOn = ask(["watch", "asked", "--expect", "issued"]);
  await goesOn.shows(prompt);
  goesOn.type("\u0004");
  for (const [typed, exitCode] of [
    [wrongCode(code), 1],
    [code, 0],
  ] as const) {
    const otp = ask(["otp", "asked"]);
    await otp.shows(prompt);
    otp.type(`${typed}\r`);
    expect(await otp.ended).toBe(exitCode);
    expect(otp.shown()).not.toContain(typed);
  }
  expect(await goesOn.ended).toBe(0);
  expect(goesOn.shown()).toContain("Code wrong, 4 tries left");
  expect(goesOn.shown().split(prompt)).toHaveLength(2);
});

describe("a new run of a process", () => testStartedAgain(() => system));
