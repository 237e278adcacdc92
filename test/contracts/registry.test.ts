// What is derived from the registry of processes has the names and values that users know.
import { expect, test } from "vitest";
import { Config } from "../../src/config/config.js";
import {
  contractOf,
  decisionUpdates,
  familyOf,
  processes,
  updatesOf,
} from "../../src/contracts/registry.js";
import { processesUnderTest } from "../processes/index.js";

test("the decisions are those that the pages and the configuration name, in their order", () => {
  expect(decisionUpdates).toEqual([
    "resolve",
    "cancel",
    "acceptContract",
    "decideVideo",
    "updateVideo",
    "rejectCall",
  ]);
});

test("a family is a process, the one that starts it and all that this one starts", () => {
  const family = ["serveNotice/a", "sendNotice/a.notice", "sendPostal/a.post"];
  for (const one of family) expect(familyOf(one)).toEqual(family);
  // The suffix of the other child, an id of a suffix alone, and no process of ours.
  for (const alone of ["sendNotice/a.post", "sendNotice/.notice", "sendPostal/a", "old-1"])
    expect(familyOf(alone)).toEqual([alone]);
});

test("every process takes resolve, and its updates have different names", () => {
  for (const processName of processes) {
    const names = updatesOf(processName).map(({ name }) => name);
    expect(names).toContain("resolve");
    expect(names).toEqual([...new Set(names)]);
  }
});

test("a process uses the account of the provider that its calls go to", () => {
  for (const { process: processName, provider } of processesUnderTest)
    expect([processName, contractOf(processName).provider]).toEqual([processName, provider]);
});

/** The defaults of a process as the configuration has them. */
function defaultsOf(processName: (typeof processes)[number]): Record<string, number | boolean> {
  return Object.fromEntries(
    Object.entries(contractOf(processName).defaults ?? {}).map(([name, given]) => [
      name,
      typeof given === "boolean" ? given : given.value,
    ]),
  );
}

const withDefaults = processes.filter((processName) => contractOf(processName).defaults);

test.each(withDefaults)("the configuration of %s begins with its defaults", (processName) => {
  const config = Config.parse({}) as Record<string, unknown>;
  expect(config[processName]).toEqual(defaultsOf(processName));
});

test.each(withDefaults)("the configuration of %s takes what an input may say", (processName) => {
  for (const [name, given] of Object.entries(contractOf(processName).defaults ?? {})) {
    if (typeof given === "boolean") continue;
    const { least = 0, most } = given;
    const isTaken = (value: number) =>
      Config.safeParse({ [processName]: { [name]: value } }).success;
    expect([name, isTaken(least), isTaken(least - 1)]).toEqual([name, true, false]);
    if (most !== undefined) expect([isTaken(most), isTaken(most + 1)]).toEqual([true, false]);
  }
});
