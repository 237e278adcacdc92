// What plainText takes out of a text from outside, and what it leaves: the words of ordinary people in any script.
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { plainText } from "../../src/contracts/shared/text.js";

/** Any characters, and often those that belong to a text in one place only. */
const anyCharacter = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  fc.constantFrom(
    ...Array.from("\u200d\u200c\ufe0f\ufe0e\u{e0100}\u061c\u202e\n\u001b\ud83d👩🏽❤1\u20e3葛ابक्म"),
  ),
);
const anyText = fc.string({ unit: anyCharacter, maxLength: 60 });
const bytesOf = (text: string) => Buffer.byteLength(text, "utf8");

describe("what stays as it is", () => {
  test.each([
    "Müller & Söhne, D'Artagnan, O’Neill, Łódź, Ñandú, e\u0301",
    "السلام عليكم 12 שלום",
    "می‌خواهم",
    "क्‍ष श्री",
    "👩‍👩‍👧 👍🏽 ❤️ 1️⃣ 🏳️‍🌈 👩🏽‍🚀 🇪🇸",
    "葛\u{e0100}城 東京　大阪",
    "10 000 € = 'a' | **b** `c` <d> --e",
    "",
  ])("%s", (text) => {
    expect(plainText(text)).toBe(text);
  });
});

describe("what goes", () => {
  test.each([
    ["a new line", "one\r\ntwo\nthree\u2028four\u0085five", "one two three four five"],
    ["a tab", "one\ttwo", "one two"],
    ["an escape sequence", "\u001b[31mred\u009b0m\u0007", "[31mred0m"],
    ["a change of direction", "a\u202egpj.exe\u202c\u2066\u200f\u061cb", "agpj.exeb"],
    ["a width of zero", "re\u200bt\u2060r\ufeffy\u00ad\u3164", "retry"],
    ["a joiner between Latin letters", "re\u200dtry\u200c", "retry"],
    ["letters that are not seen", "x\u{e0041}\u{e007f}\u{e0100}\ufe0f", "x"],
    ["half a character", "a\ud83db\ude00c\uffff", "abc"],
  ])("%s", (_, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  test("what was taken out leaves nothing that had to go", () => {
    expect(plainText("x\ufe0f\u200d👩")).toBe("x👩");
    expect(plainText("👩\u200d\u202e👧")).toBe("👩👧");
    expect(plainText("\u0627\u200d\u061c\u0628")).toBe("\u0627\u0628");
  });
});

describe("a text that is too long", () => {
  test.each([
    ["abcdef", 6, "abcdef"],
    ["abcdef", 5, "ab…"],
    ["ééé", 5, "é…"],
    ["👩‍👧 and", 12, "👩…"],
  ])("%s in %i bytes", (text, maxBytes, cut) => {
    expect(plainText(text, maxBytes)).toBe(cut);
  });

  test("is counted after what had to go", () => {
    expect(plainText(`${"\u200b".repeat(1_000)}abc`, 3)).toBe("abc");
  });
});

describe("any text", () => {
  test("has one line and nothing hidden, and a second pass changes nothing", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const plain = plainText(text);
        expect(plain).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029\ufeff\u200b]/u);
        expect(plainText(plain)).toBe(plain);
      }),
    );
  });

  test("has at most so many bytes", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 3, max: 80 }), (text, maxBytes) => {
        expect(bytesOf(plainText(text, maxBytes))).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });
});
