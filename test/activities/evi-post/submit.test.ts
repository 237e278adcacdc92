// The submission of a letter as it leaves (P2 §2.1–2.4, §6.2), and the rules of its account before it.
import { expect, test } from "vitest";
import { createEviPostActivities } from "../../../src/activities/evi-post/index.js";
import { submissionOf } from "../../../src/activities/evi-post/submit.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { document } from "../../workflows/plans.js";
import { depsWithoutRows, inAttempt } from "../attempts.js";

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

test.each([
  ["refuses a letter that was never sent", false, { type: "InvalidInput" }],
  ["does not stop a letter that may exist", true, { uniqueId: "u-1" }],
])("a rule that the account has by now %s", async (_, isSent, expected) => {
  const { submit } = createEviPostActivities(
    depsWithoutRows(
      { name: "default", destinationCountries: ["PT"], siteHasRegion: true },
      {
        journal: {
          mayHaveEffect: async () => isSent,
          addOwner: async () => undefined,
          perform: async () => ({ uniqueId: "u-1" }),
        },
        callback: () => ({ url: "https://example.com/callbacks/1", correlation: "c" }),
        ...{ patienceMs: 1, unavailableForMs: 1_000, defaults: { sendPostal: {} } },
        secrets: { open: (text: string) => text },
      },
    ),
  );
  const input = { ...letterInput("order-7", "delivered"), document };
  const effect = { step: "submit", occurrence: "0" };
  const submitting = inAttempt(() => submit({ effect, mode: "watch", input }), {
    workflowExecution: { workflowId: "sendPostal/order-7", runId: "r" },
  });
  expect(await submitting.catch((failure: unknown) => failure)).toMatchObject(expected);
});
