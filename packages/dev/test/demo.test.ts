// The demo shows every process that there is.
import { expect, test } from "vitest";
import { processes } from "../../../src/contracts/registry.js";
import { scenarios } from "../src/demo/demo.js";

test("the demo plays every process", () => {
  expect(new Set(scenarios.map((scenario) => scenario.process))).toEqual(new Set(processes));
});

test("no two scenarios have one name: it is their business id and their intent", () => {
  const names = scenarios.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});
