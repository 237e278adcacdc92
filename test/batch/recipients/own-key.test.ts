// Our own key in a recipient's lookup key: what was written is read back, whatever key the caller has.
import { expect, test } from "vitest";
import fc from "fast-check";
import { lineOfOwnKey, ownKey, withoutOwnKey } from "../../../src/batch/recipients/own-key.js";

const tag = "0123456789ab";

test("the line and the caller's key are read back from the joined key", () => {
  const line = fc.integer({ min: 1, max: 50_000_000 });
  const key = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
  fc.assert(
    fc.property(line, key, (written, given) => {
      const own = ownKey(tag, written);
      const joined = given === undefined ? own : `${given}::${own}`;
      expect(lineOfOwnKey(joined, tag)).toBe(written);
      expect(withoutOwnKey(joined, tag)).toBe(given);
    }),
  );
  expect(withoutOwnKey(`${ownKey(tag, 7)}::order 7`, tag)).toBe("order 7");
  expect(withoutOwnKey(`::x::${ownKey(tag, 7)}`, tag)).toBe("::x");
});

test.each([undefined, "", "order 7", "ba9876543210-1f", `${tag}-`, `${tag}-1F`, `x${tag}-1f`])(
  "%s has no key of the batch",
  (lookupKey) => {
    expect(lineOfOwnKey(lookupKey, tag)).toBeUndefined();
    expect(withoutOwnKey(lookupKey, tag)).toBe(lookupKey === "" ? undefined : lookupKey);
  },
);
