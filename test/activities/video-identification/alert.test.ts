// Alert addresses and rejections: nothing is removed that may not be ours, and nothing is sent twice in doubt (P1 §4.2).
import { expect, test } from "vitest";
import { pointers } from "../../providers/video-identification/account.js";
import { openBench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const bench = ofFile(openBench);

const mode = "quick";
const provider = "video-identification";

/** The addresses of a process of the provider's that has the name of the conference. `before`: what it had. */
async function alerting(before?: string[], emails = ["desk@example.com"]) {
  const followed = await bench.follow();
  const call = { account: "default", mode, processId: followed.intent, before } as const;
  const effectOf = (step: string) => ({ step, occurrence: "0" });
  return {
    ...followed,
    register: () =>
      followed.run((service) =>
        service.registerAlert({
          ...{ ...call, effect: effectOf("registerAlert") },
          emails,
        }),
      ),
    remove: () =>
      followed.run((service) => service.removeAlert({ ...call, effect: effectOf("removeAlert") })),
    async registered() {
      const { items } = await bench.control.items({ intent: followed.intent });
      const { id } = items.find((item) => item.id.startsWith("alert:")) ?? {};
      return id === undefined ? undefined : (await bench.control.item(id))["emails"];
    },
  };
}

test("addresses that were accepted are removed, where none were there before", async () => {
  const { register, remove, registered, effects } = await alerting([]);
  await register();
  expect(await registered()).toEqual(["desk@example.com"]);
  expect(await remove()).toEqual({});
  expect(await registered()).toBeUndefined();
  expect(effects()).toEqual({ [`${provider}.registerAlertEmail`]: 2 });
});

test("addresses that were there before are told too, and are left alone at the end (P1 §4.2, rule 2)", async () => {
  const { register, remove, registered } = await alerting(["night@example.com"]);
  await register();
  expect(await registered()).toEqual(["night@example.com", "desk@example.com"]);
  expect(await remove()).toEqual({});
  expect(await registered()).toEqual(["night@example.com"]);
});

test.each([[["desk@example.com"]], [undefined]])(
  "addresses that are given twice are sent once, beside those before: %j",
  async (before) => {
    const { register, registered } = await alerting(before, [
      "desk@example.com",
      "desk@example.com",
    ]);
    await register();
    expect(await registered()).toEqual(["desk@example.com"]);
  },
);

test("where nobody says what was there before, nothing is removed", async () => {
  const { register, remove, registered, effects } = await alerting();
  await register();
  expect(await remove()).toEqual({ isLeft: true });
  expect(await registered()).toEqual(["desk@example.com"]);
  expect(effects()).toEqual({ [`${provider}.registerAlertEmail`]: 1 });
});

test("without a registration nothing is removed", async () => {
  const { remove, effects } = await alerting();
  expect(await remove()).toEqual({});
  expect(effects()).toEqual({});
});

test.each([429, 503])(
  "after a registration that was answered %i, the addresses are left and the process says so",
  async (status) => {
    const { register, remove, effects, fault } = await alerting([]);
    fault("registerAlertEmail", { kind: "reject", status });
    await expect(register()).rejects.toBeDefined();
    expect(await remove()).toEqual({ isLeft: true });
    expect(effects()).toEqual({});
  },
);

test.each([
  ["open", "/state", "rejected"],
  ["in a state that no word names", "/idConference", "unknown"],
])("after a rejection in doubt, another one of a call that is %s", async (_, state, answer) => {
  const account = { pointers: { ...pointers, state } };
  const { run, given, effects, fault } = await bench.follow({ account });
  fault("rejectCall", { kind: "cut" });
  const reject = (occurrence: string) =>
    run((service) =>
      service.rejectCall({ ...given, effect: { step: "rejectCall", occurrence }, fields: {} }),
    );
  expect(await reject("first")).toEqual({ answer: "unknown" });
  await bench.pool.query("update trustflow.effects set lease_until = clock_timestamp()");
  expect(await reject("second")).toEqual({ answer });
  expect(effects()).toEqual(answer === "rejected" ? { [`${provider}.rejectCall`]: 1 } : {});
});
