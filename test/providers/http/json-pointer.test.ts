// Where a value stands in a body whose shape is not shown (P1 §2.7, §6.1, §6.2).
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { valueAt } from "../../../src/providers/http/json-pointer.js";

describe("a JSON pointer (RFC 6901)", () => {
  // §5 of the RFC, as far as a text or a number stands there, and a flag.
  const document = { foo: ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, verified: false };
  test.each([
    ["/foo/0", "bar"],
    ["/", "0"],
    ["/a~1b", "1"],
    ["/m~0n", "8"],
    ["/verified", "false"],
  ])("%j finds %j", (pointer, expected) => {
    expect(valueAt(document, pointer)).toBe(expected);
  });

  test.each([
    ["", document],
    ["/foo", document],
    ["/foo/2", document],
    ["/foo/-", document],
    ["/foo/00", document],
    ["/foo/length", document],
    ["/foo/0/0", document],
    ["foo/0", document],
    ["/toString/name", document],
    ["/__proto__/constructor/name", document],
    ["/a", { a: null }],
    ["/a/b", { a: null }],
    ["/a", null],
    ["/~01", { "/": 1 }],
  ])("%j finds no text, number or flag", (pointer, body) => {
    expect(valueAt(body, pointer)).toBeUndefined();
  });

  test("the empty pointer is the whole document", () => {
    expect(valueAt("r1", "")).toBe("r1");
  });

  test("finds whatever a path of any names leads to", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { minLength: 1, maxLength: 4 }),
        fc.string(),
        (names, value) => {
          const body = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
          const escaped = names.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1"));
          expect(valueAt(body, `/${escaped.join("/")}`)).toBe(value);
        },
      ),
    );
  });
});
