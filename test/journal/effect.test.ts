// The token of an effect is stored and sent: its bytes may never change.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import fc from "fast-check";
import { effectToken, wireToken } from "../../src/journal/effect.js";

/** Stored tokens stay what they are: effect, then its tokens on the wire after one denial and after twelve. */
const recorded: [Parameters<typeof effectToken>, string, string, string][] = [
  [
    ["default", "sendPostal/order-7", "submit", "0"],
    "1accb56d-8d9c-5650-88cd-969e75b33867",
    "0a7e77f0-6291-5621-98fe-78eef7ce0566",
    "2762a6ed-e64b-5fd3-9718-4d35afbd8851",
  ],
  [
    ["default", "issueCertificate/añil-1", "enroll", "0"],
    "9a81d520-3252-5cb5-a8e1-e1f4bf22b9c1",
    "57a76308-a781-574b-a29d-41582a3a08c1",
    "26b448ea-b96a-5693-8c4a-7537926c7e25",
  ],
  [
    ["trustflow.prod", "signOneShot/a\ud800b", "sign", "5f0c6a52-6f0b-4d0e-9c3a-2f1b7a8e4d10"],
    "1aef8eee-0573-5832-8796-45d25f320410",
    "31daddce-0c67-5e59-b53e-ac191cf9bb2f",
    "b3d8098d-ea19-5d75-b300-25544d3dbaa0",
  ],
];

test.each(recorded)("%j has the token that it always had", (effect, token, first, twelfth) => {
  expect(effectToken(...effect)).toBe(token);
  expect(wireToken(token, 0)).toBe(token);
  expect(wireToken(token, 1)).toBe(first);
  expect(wireToken(token, 12)).toBe(twelfth);
});

test("the example of RFC 9562 (Appendix A.4) comes out of the derivation below, and every token does too", () => {
  const dns = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
  expect(derived(dns, "www.example.com")).toBe("2ed6657d-e927-568b-95e1-2665a8aea6a2");
  const project = "6f0a5b0e-3c1d-4e8a-9b57-2d8f4c1e7a90";
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(text, text, text, text, fc.integer({ min: 1 }), (...values) => {
      const [namespace, workflowId, step, occurrence, generation] = values;
      const token = effectToken(namespace, workflowId, step, occurrence);
      expect(token).toBe(derived(project, JSON.stringify(values.slice(0, 4))));
      expect(wireToken(token, generation)).toBe(derived(token, String(generation)));
    }),
  );
});

/** RFC 9562 §5.5, with Node's own SHA-1. */
function derived(namespace: string, name: string): string {
  const hash = createHash("sha1").update(namespace.replaceAll("-", ""), "hex").update(name);
  const hex = hash.digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
