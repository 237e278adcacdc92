import { expect, test } from "vitest";
import { differences } from "../../src/client/input.js";

test.each([
  [{ a: { b: 1 } }, { a: { b: 1 } }, []],
  [{ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 }, []],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, ["a.c"]],
  [{ a: 1 }, { b: 1 }, ["a", "b"]],
  [{ a: [1, 2] }, { a: [1, 3, 4] }, ["a.1", "a.2"]],
  [{ a: [] }, { a: {} }, ["a"]],
  [{ a: { b: 1 } }, { a: null }, ["a"]],
  [{ a: "1" }, { a: 1 }, ["a"]],
  [{ a: { providerFields: { Ana: 1 } } }, { a: { providerFields: {} } }, ["a.providerFields"]],
  [{ providerFields: { Ana: { b: [1] } } }, { providerFields: { Ana: { b: [1] } } }, []],
  [
    { deliveryAppearance: { Ana: 1, Ruiz: 2 } },
    { deliveryAppearance: "a" },
    ["deliveryAppearance"],
  ],
  [{ deliveryAppearance: { Ana: 1 } }, { deliveryAppearance: { Ruiz: 1 } }, ["deliveryAppearance"]],
  [undefined, { a: 1 }, ["(input)"]],
])("%j and %j differ in %j", (one, other, paths) => {
  expect(differences(one, other)).toEqual(paths);
  expect(differences(other, one).toSorted()).toEqual(paths);
});
