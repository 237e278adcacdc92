// Which callbacks of a signature request report an end (P1 §1.4, §6.2).
import { expect, test } from "vitest";
import { oneShotView, reportsEnd } from "../../../src/workflows/sign-one-shot/view.js";

const kinds = ["signed", "failed", "cancelled", "Closed", "Cancelled", "Disposed", "webhook"];

test("the states that a request does not leave report an end", () => {
  const ends = kinds.filter((kind) => reportsEnd({ id: kind, kind, at: "2026" }));
  expect(ends).toEqual(["signed", "failed", "cancelled"]);
});

test("only the service's answer closes a request", () => {
  const event = { id: "e", kind: "signed", at: "2026" };
  expect(oneShotView([event], undefined).closed).toBe(false);
  const open = { stamp: "1", state: "signing", fingerprint: "signing" } as const;
  expect(oneShotView([event], open)).toMatchObject({ state: "signing", closed: false });
  expect(oneShotView([], { ...open, state: "signed" })).toMatchObject({ closed: true });
  // The request may be signed all the same: the caller approves the signer.
  const video = { ...open, state: "failed", about: "video" as const };
  expect(oneShotView([], video)).toMatchObject({ state: "failed", closed: false });
});
