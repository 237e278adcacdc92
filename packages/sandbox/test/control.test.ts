import { afterAll, expect, test } from "vitest";
import { sandboxControl } from "../src/control/client.js";
import { startSandbox } from "../src/sandbox.js";
import { commandLine } from "../../../test/cli/in-process.js";
import { call, DAY, post, query } from "./caller.js";

const sandbox = await startSandbox({ speed: "manual", seed: "control" });
const control = sandboxControl(sandbox.url);
afterAll(() => sandbox.close());

test("state, items, requests and ledger show what happened", async () => {
  const id = await post(sandbox.url, { LookupKey: "shown" });
  expect(await control.items({ intent: "shown" })).toMatchObject({
    total: 1,
    items: [{ id, state: "Submitted" }],
  });
  expect(await control.ledger("shown")).toMatchObject({
    effects: [{ operation: "evi-post.submit", intent: "shown", itemId: id, account: "sandbox" }],
    byIntent: { shown: { "evi-post.submit": 1 } },
    duplicates: [],
    violations: [],
  });
  const { ran } = await control.advance(30 * DAY);
  expect(ran).toBe(7);
  expect(await control.state()).toMatchObject({
    items: { "evi-post": { Closed: 1 } },
    ledger: { effects: 1 },
  });
  const { newest } = await control.requests();
  expect(newest.at(-1)).toMatchObject({
    operation: "evi-post.submit",
    status: 200,
    intent: "shown",
  });
});

test("a command sets the speed of the clock", async () => {
  const running = await startSandbox({ speed: 1 });
  const args = ["sandbox", "clock", "--speed", "manual", "--url", running.url, "--json"];
  expect(JSON.parse((await commandLine(args)).stdout)).toMatchObject({ speed: "manual" });
  expect(await sandboxControl(running.url).clock()).toMatchObject({ speed: "manual" });
  await running.close();
});

test("an item is moved by hand, and rests there", async () => {
  const id = await post(sandbox.url);
  await control.move(id, { state: "Missing" });
  await control.advance(60 * DAY);
  expect(await query(sandbox.url, id)).toMatchObject({ state: "Missing", outcome: "None" });
  await expect(control.move(id, { state: "Lost" })).rejects.toThrow(/state: must be one of/);
  await expect(control.move("nobody", { state: "Sent" })).rejects.toThrow(/404 no item nobody/);
});

test("with keepPlan the life goes on from there", async () => {
  const id = await post(sandbox.url);
  await control.move(id, { state: "Sent", outcome: "Sent", keepPlan: true });
  await control.advance(30 * DAY);
  expect(await query(sandbox.url, id)).toMatchObject({ state: "Closed", outcome: "Delivered" });
});

test("a wrong password for a while, fixed again", async () => {
  await control.putAccount("sandbox", { password: "changed" });
  expect((await call(sandbox.url, "/v1/EviPost/Query")).status).toBe(401);
  await control.putAccount("sandbox", { password: "sandbox" });
  expect((await call(sandbox.url, "/v1/EviPost/Query")).status).toBe(200);
  expect(JSON.stringify(await control.accounts())).not.toContain("password");
});

test("an account takes the credentials of every provider, and shows none of them", async () => {
  const secrets = {
    password: "hidden-password",
    apiKey: "hidden-key",
    token: "hidden-token",
    apiToken: "hidden-api-token",
    webhookUrl: "http://127.0.0.1:9/hidden-address",
  };
  const rights = {
    roles: ["ADMIN"],
    lras: { "lra-7": { methods: ["enroll"], eIDTypes: ["EIDVENDOR"], hasEmailOtp: false } },
  };
  const shown = await control.putAccount("newcomer", { ...secrets, ...rights });
  expect(shown).toMatchObject(rights);
  expect(sandbox.accounts.get("newcomer")).toMatchObject({ ...secrets, ...rights });
  const listed = await control.accounts();
  expect(listed).toContainEqual(shown);
  expect(JSON.stringify([shown, listed])).not.toMatch(/hidden|-api-key|-token/);
});

test("faults are added, listed, removed and cleared", async () => {
  const fault = await control.addFault({
    operation: "evi-post.query",
    kind: "reject",
    status: 500,
    times: "always",
  });
  expect((await call(sandbox.url, "/v1/EviPost/Query")).status).toBe(500);
  expect(await control.faults()).toMatchObject([{ id: fault.id, seen: 1, fired: 1 }]);
  expect(await control.removeFault(fault.id)).toEqual([]);
  await control.addFault({ operation: "*", kind: "cut", forMs: 1 });
  await control.clearFaults();
  expect((await call(sandbox.url, "/v1/EviPost/Query")).status).toBe(200);
});

test("a move of the clock says whether a fault waits for a call", async () => {
  const hasFaults = async () => (await control.advance(0)).hasFaults;
  const fault = { operation: "evi-post.query", kind: "reject" } as const;
  const query = () => call(sandbox.url, "/v1/EviPost/Query");
  await control.addFault({ operation: "evi-post.callback", kind: "lost", times: "always" });
  await control.addFault({ ...fault, forMs: 1 });
  await expect.poll(hasFaults, { timeout: 30_000 }).toBe(false);
  await control.addFault({ ...fault, call: 2 });
  expect(await hasFaults()).toBe(true);
  expect((await query()).status).toBe(200);
  expect(await hasFaults()).toBe(true);
  expect((await query()).status).toBe(503);
  expect(await hasFaults()).toBe(false);
  await control.clearFaults();
});

test.each([
  ["POST", "faults", { kind: "cut" }, /^operation: is required$/],
  ["POST", "faults", { operation: "evi-post.submit", kind: "boom" }, /^kind: must be one of .*cut/],
  ["POST", "faults", { operation: "nobody.submit", kind: "cut" }, /operation: must be one of/],
  ["POST", "faults", { operation: "*", kind: "cut", time: 3 }, /^time: is not known$/],
  ["POST", "faults", { operation: "*", kind: "reject", status: 200 }, /^status: must be >= 300$/],
  ["POST", "clock/advance", { ms: -1 }, /^ms: must be >= 0$/],
  ["POST", "clock/advance", { ms: "5" }, /^ms: must be integer$/],
  ["POST", "clock/advance", { ms: 1e16 }, /^ms: must be <= /],
  ["PUT", "clock", { speed: 0 }, /^speed: must be one of manual, auto, or must be > 0$/],
  ["PUT", "clock", { speed: "warp" }, /^speed: must be one of manual, auto, or must be number$/],
  ["PUT", "clock", [], /^body: must be object$/],
  ["GET", "items?intnet=order-7", undefined, /^intnet: is not known$/],
  ["GET", "items?limit=few", undefined, /^limit: must be a whole number$/],
  ["GET", "requests?intent=order-7", undefined, /^intent: is not known$/],
  ["PUT", "accounts/new", { canCancel: true }, /password/],
  [
    "PUT",
    "accounts/new",
    { password: "x", lras: { "lra-1": { method: [] } } },
    /^lras\.lra-1\.method: is not known$/,
  ],
  ["POST", "faults", { operation: "messaging-gateway.callback", kind: "lost" }, /operation/],
])(
  "%s %s with a bad body is a 400 that names the field (%#)",
  async (method, path, body, pattern) => {
    const response = await fetch(`${sandbox.url}/_sandbox/${path}`, {
      method,
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error).toMatch(pattern);
  },
);

test("an unknown path is a 404 that names it", async () => {
  const response = await fetch(`${sandbox.url}/_sandbox/item`);
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    error: "GET /_sandbox/item is not a path of the control",
  });
});

test("the speed can be changed, and reset empties everything but the accounts", async () => {
  expect(await control.setSpeed(1000)).toMatchObject({ speed: 1000 });
  expect(await control.setSpeed("manual")).toMatchObject({ speed: "manual" });
  expect(await control.reset()).toMatchObject({
    items: { "evi-post": {} },
    ledger: { effects: 0 },
    schedule: { pending: 0 },
  });
  expect((await control.accounts()).length).toBeGreaterThan(3);
});
