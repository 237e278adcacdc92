// What Prometheus reads of receiver, relay and worker after traffic of every kind (docs/operations/watch.md).
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "@temporalio/client";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { namedRows, textOf } from "../../docs/repository.js";
import { addressOf, eventOf, post } from "../../processes/send-postal/callbacks.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { metricsPorts, metricsRoles } from "../../harness/stack/metrics-ports.js";
import type { MetricsRole } from "../../harness/stack/metrics-ports.js";
import { historyLength, startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { until } from "../../harness/outages/wait.js";

let ports: Record<MetricsRole, number>;
let system: TestStack;

beforeAll(async () => {
  const metrics = await metricsPorts();
  ({ ports } = metrics);
  system = await startTestStack({ env: { ...metrics.env, TRUSTFLOW_CODEC__PLAINTEXT: "refuse" } });
}, 120_000);
afterAll(() => system?.close(), 60_000);

async function textOfRole(role: MetricsRole): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${ports[role]}/metrics`);
  expect([role, answer.status]).toEqual([role, 200]);
  return answer.text();
}

/** The sum of the metric's series that have these labels; undefined where there is none. */
async function value(
  role: MetricsRole,
  name: string,
  labels: Record<string, string> = {},
): Promise<number | undefined> {
  const wanted = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  const found = (await textOfRole(role))
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .map((line) => Number(line.slice(line.lastIndexOf(" "))));
  return found.length === 0 ? undefined : found.reduce((sum, one) => sum + one, 0);
}

const relayed = (result: string, more: Record<string, string> = {}) =>
  value("relay", "trustflow_relay_callbacks_total", { result, ...more });
const received = (result: string) => value("receiver", "trustflow_callbacks_total", { result });
const called = (operation: string, result: string) =>
  value("worker", "trustflow_provider_calls_total", { provider: "evi-post", operation, result });

test("before any traffic every count of receiver and relay is there, as 0", async () => {
  const results = ["accepted", "duplicate", "forged", "notJson", "tooLarge", "overloaded"];
  for (const result of [...results, "databaseAway"]) expect(await received(result)).toBe(0);
  for (const result of ["delivered", "late", "kept", "parked"])
    expect(await relayed(result)).toBe(0);
  await until(async () => (await value("relay", "trustflow_relay_listening")) === 1);
  expect(await value("relay", "trustflow_inbox_lag_seconds")).toBe(0);
});

test("a letter that is delivered counts its calls and its callbacks", async () => {
  const handle = await system.client.sendPostal("plain", letterInput("plain", "delivered"));
  expect((await handle.result()).outcome).toBe("delivered");
  expect(await called("submit", "ok")).toBe(1);
  expect(await called("query", "ok")).toBeGreaterThan(0);
  const timed = await value("worker", "trustflow_provider_call_seconds_count", {
    operation: "submit",
  });
  expect(timed).toBe(1);
  expect(await received("accepted")).toBeGreaterThan(0);
  const commits = await value("receiver", "trustflow_callback_commit_seconds_count");
  expect(commits).toBe(((await received("accepted")) ?? 0) + ((await received("duplicate")) ?? 0));
  await until(async () => (await relayed("delivered")) === (await received("accepted")));
}, 60_000);

test("a callback that comes twice, late, without a process, or to a forged address is counted as such", async () => {
  const before = { accepted: await received("accepted"), late: await relayed("late") };
  const late = addressOf(system, "sendPostal/plain");
  const event = eventOf();
  expect(await post(late, event)).toBe(204);
  expect(await post(late, event)).toBe(204);
  expect(await post(addressOf(system, "sendPostal/never-was"), eventOf())).toBe(204);
  expect(await post(`${late.slice(0, -8)}00000000`, event)).toBe(404);
  expect(await post(late, "{")).toBe(400);
  expect(await received("accepted")).toBe((before.accepted ?? 0) + 2);
  expect(await received("duplicate")).toBe(1);
  expect(await received("forged")).toBe(1);
  expect(await received("notJson")).toBe(1);
  expect(await value("receiver", "trustflow_callbacks_in_flight")).toBe(0);
  await until(async () => (await relayed("parked")) === 1);
  expect(await relayed("parked", { reason: "unknownProcess" })).toBe(1);
  await until(async () => (await relayed("late")) === (before.late ?? 0) + 1);
  expect(await value("relay", "trustflow_inbox_callbacks", { state: "parked" })).toBe(1);
  for (const state of ["unaddressed", "waiting"])
    expect(await value("relay", "trustflow_inbox_callbacks", { state })).toBe(0);
  expect(await relayed("parked", { reason: "unmatched" })).toBe(0);
}, 30_000);

test("an answer that is none counts with what was wrong with it, and the log says it without the answer", async () => {
  const handle = await system.client.sendPostal(
    "web-page",
    letterInput("web-page", "delivered,query=web-page"),
  );
  await handle.result();
  const labels = { operation: "query", status: "200", mismatch: "mediaType" };
  expect(await value("worker", "trustflow_provider_answers_refused_total", labels)).toBe(1);
  const log = await readFile(join(system.stack.directory, "logs", "worker.log"), "utf8");
  const told = log.split("\n").find((line) => line.includes("text/html"));
  expect(JSON.parse(told ?? "{}")).toMatchObject({
    operation: "query",
    status: 200,
    problem: "answered 200 with text/html instead of JSON",
  });
  expect(log).not.toContain("Sign in");
}, 60_000);

test("what comes to a process without encryption counts by what it is", async () => {
  const { connection } = system.client.temporal;
  await new Client({ connection }).workflow.start("sendPostal", {
    workflowId: "sendPostal/plaintext",
    taskQueue: "trustflow",
    args: [letterInput("plaintext", "delivered")],
  });
  const refused = () =>
    value("worker", "trustflow_payloads_refused_total", {
      workflowType: "sendPostal",
      of: "start",
    });
  await until(async () => (await refused()) === 1);
}, 60_000);

const raised = () =>
  value("worker", "trustflow_attentions_total", {
    workflowType: "sendPostal",
    kind: "accessDenied",
  });
const open = () => value("relay", "trustflow_processes_in_attention", { kind: "accessDenied" });
const denied = ["denied-1", "denied-2"];

test("a refused account shows as refused calls, as calls not made, and as an attention", async () => {
  expect(await open()).toBe(0);
  await system.sandbox.putAccount("sandbox", { password: "changed" });
  for (const name of denied) {
    const handle = await system.client.sendPostal(name, letterInput(name, "delivered"));
    await statusWhere(handle, ({ attention }) => attention?.kind === "accessDenied");
  }
  expect(await called("submit", "accessDenied")).toBeGreaterThan(0);
  await until(async () => ((await called("submit", "notAsked")) ?? 0) > 0);
  expect(await raised()).toBe(denied.length);
  await until(async () => (await open()) === denied.length);
  const letters = { process: "sendPostal" };
  await until(
    async () => (await value("relay", "trustflow_processes_open", letters)) === denied.length,
  );

  // A probe leaves no trace in a history.
  const lengths = () =>
    Promise.all(denied.map((name) => historyLength(system, `sendPostal/${name}`)));
  const [before, probes] = [await lengths(), (await called("submit", "accessDenied")) ?? 0];
  await until(async () => ((await called("submit", "accessDenied")) ?? 0) > probes + 2);
  expect(await lengths()).toEqual(before);
}, 60_000);

test("docs/reference/metrics.md has a row for each of our metrics, with its role and type", async () => {
  const types = new Set(["counter", "gauge", "histogram"]);
  const served = [];
  for (const role of metricsRoles) {
    const lines = (await textOfRole(role)).matchAll(/^# TYPE (trustflow_\w+) (\w+)$/gm);
    for (const [, name, type] of lines) served.push(`${name} ${role} ${type}`);
  }
  const documented = namedRows(textOf("docs/reference/metrics.md"))
    .filter(([name = "", , type = ""]) => name.startsWith("trustflow_") && types.has(type))
    .map((cells) => cells.slice(0, 3).join(" "));
  expect(new Set(documented)).toEqual(new Set(served));
});

test("none of them names a process, a letter or an event", async () => {
  for (const role of metricsRoles) {
    const ours = (await textOfRole(role)).split("\n").filter((line) => /trustflow_/.test(line));
    expect(ours.join("\n")).not.toMatch(/denied-|plain|never-was|[\da-f]{8}-[\da-f]{4}-/);
  }
});

test("a worker that comes back replays what was counted, and does not count it again", async () => {
  await system.stack.role("worker").restart();
  await system.sandbox.putAccount("sandbox", { password: "sandbox" });
  for (const name of denied) {
    const result = await system.client.handle(`sendPostal/${name}`).result();
    expect(result).toMatchObject({ outcome: "delivered" });
  }
  await until(async () => (await open()) === 0);
  expect(await called("submit", "ok")).toBe(denied.length);
  expect(await raised()).toBeUndefined();
}, 90_000);

test("what waits has an age, and what cannot be asked is left out", async () => {
  const { stack } = system;
  await stack.role("worker").stop();
  await stack.temporal.kill();
  expect(await post(addressOf(system, "sendPostal/plain"), eventOf())).toBe(204);
  await until(async () => Number(await value("relay", "trustflow_inbox_lag_seconds")) > 1);
  expect(await value("relay", "trustflow_inbox_callbacks", { state: "waiting" })).toBe(1);
  expect(await value("relay", "trustflow_inbox_lag_seconds")).toBeLessThan(30);
  expect(await value("relay", "trustflow_processes_in_attention")).toBeUndefined();
  await stack.postgres?.stop();
  await until(async () => (await value("relay", "trustflow_relay_listening")) === 0);
  expect(await value("relay", "trustflow_inbox_lag_seconds")).toBeUndefined();
  expect(await value("relay", "trustflow_inbox_callbacks")).toBeUndefined();
  expect(await post(addressOf(system, "sendPostal/plain"), eventOf())).toBe(503);
  expect(await received("databaseAway")).toBe(1);
}, 60_000);
