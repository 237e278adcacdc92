// The search that the canaries are looked for with, on its own.
import { expect, test } from "@jest/globals";
import { SendPostalInput } from "../../src/contracts/send-postal.js";
import { Canaries, canaryAuthor, found } from "../support/history-canaries.js";

const text = "qwertyuiopasdf";
const around = ["", "x", "xy", "xyz"].map((before) => Buffer.from(`${before}${text}${before}`));

test("a text is found in clear and in each encoding, whatever stands before it", () => {
  for (const bytes of around) {
    const hex = bytes.toString("hex");
    const written: [string, Buffer | string][] = [
      ["clear", bytes],
      ["hex", hex],
      ["hex", hex.toUpperCase()],
      ["base64", bytes.toString("base64")],
      ["base64", bytes.toString("base64url")],
      ["URL", hex.replaceAll(/../g, "%$&")],
      ["UTF-16", Buffer.from(bytes.toString(), "utf16le")],
    ];
    for (const [name, form] of written) expect(found(text, Buffer.from(form))).toEqual([name]);
  }
  expect(found(text, Buffer.from(text.slice(1)))).toEqual([]);
});

test("a letter has a canary in every text that its contract leaves free, and is a good one", () => {
  const canaries = new Canaries();
  const letter = canaryAuthor(canaries).letter("one", "delivered", {});
  expect(SendPostalInput.safeParse(letter).error).toBeUndefined();
  expect([...canaries.all.keys()]).toEqual(
    expect.arrayContaining([
      "recipientAddress.streetAddress",
      "recipientName",
      "issuerEmail",
      "options.customFields[].value",
      "options.evidenceAccessControlChallengeResponse",
      "the document",
    ]),
  );
});
