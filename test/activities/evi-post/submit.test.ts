// The submission of a letter as it leaves (P2 §2.1–2.4, §6.2).
import { expect, test } from "vitest";
import { submissionOf } from "../../../src/activities/evi-post/submit.js";
import { letterInput } from "../../processes/send-postal/inputs.js";

test("its filter has each value that the specification allows for post, else that callback never comes", () => {
  const callback = { url: "https://example.com/callbacks/1", correlation: "c" };
  const account = { ownKeyInLookupKey: true };
  const { options } = submissionOf(
    letterInput("order-7", "delivered"),
    Buffer.alloc(0),
    "key",
    callback,
    account,
  );
  expect(options?.pushNotificationFilter).toEqual([
    ...["Processed", "Dispatched", "Sent", "Delivered", "Closed", "Cancelled", "Issued"],
    ...["Disposed", "AffidavitPublished"],
  ]);
});
