import { expect, test } from "vitest";
import { canonicalJson } from "../../src/crypto/json-digest.js";

test("keys are sorted by UTF-16 code units and white space is gone", () => {
  // RFC 8785 §3.2.3.
  const value = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };
  expect(Object.values(JSON.parse(canonicalJson(value)) as object).length).toBe(7);
  expect(canonicalJson(value)).toBe(
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
      '"\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  );
});

test("numbers, literals and strings are written as RFC 8785 §3.2.2 shows", () => {
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test("the order of keys makes no difference, an absent key is left out", () => {
  expect(canonicalJson({ b: 1, a: { d: 2, c: undefined } })).toBe(
    canonicalJson({ a: { d: 2 }, b: 1 }),
  );
});

test("what JSON cannot say is refused", () => {
  expect(() => canonicalJson(undefined)).toThrow("cannot be written as JSON");
  expect(() => canonicalJson({ a: Number.NaN })).toThrow("NaN");
});
