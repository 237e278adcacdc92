// What the answer of a cancellation says to the caller (P2 §4.1; docs/reading-the-specification.md §2).
import { expect, test } from "vitest";
import { cancelAnswer, cancelAnswerFor } from "../../../src/activities/evi-post/index.js";
import { refusalOf } from "../../../src/activities/runtime/failure.js";
import { EffectAbsentOnce, EffectInFlight, EffectRefused } from "../../../src/journal/errors.js";
import { ProviderError, withoutAnswer } from "../../../src/providers/errors/provider-error.js";
import { asking, refusal } from "../../../src/providers/evi-post/translate.js";

const refused = (status: number) =>
  refusal("cancel", { status, headers: {}, body: Buffer.from("{}") });
const away = new ProviderError({ ...asking("cancel"), ...withoutAnswer("keyed"), problem: "" });

/** What the query says of the item after each answer. */
const asks = {
  "shows it as dispatched": async () => cancelAnswerFor({ state: "Dispatched" }),
  "shows it as cancelled": async () => cancelAnswerFor({ state: "Cancelled" }),
  "shows it as closed, cancelled": async () =>
    cancelAnswerFor({ state: "Closed", outcome: "Cancelled" }),
  "shows it as closed, delivered": async () =>
    cancelAnswerFor({ state: "Closed", outcome: "Delivered" }),
  "shows it as submitted": async () => cancelAnswerFor({ state: "Submitted" }),
  "does not show it": async () => undefined,
  "is refused too": async () => Promise.reject(refused(401)),
};

test.each<[answer: string, string | number, keyof typeof asks]>([
  // P2 §4.1: 401 is said of wrong credentials and of another account's item alike.
  ["notOwner", 401, "does not show it"],
  ["notOwner", 401, "shows it as submitted"],
  ["unavailable", 401, "is refused too"],
  ["tooLate", 401, "shows it as dispatched"],
  ["cancelled", 401, "shows it as cancelled"],
  ["cancelled", 400, "shows it as closed, cancelled"],
  ["tooLate", 400, "shows it as closed, delivered"],
  ["unknown", 400, "shows it as submitted"],
  ["tooLate", 400, "shows it as dispatched"],
  ["unknown", 404, "does not show it"],
  ["notPermitted", 403, "shows it as submitted"],
])("it is %s after a %s where the query %s", async (answer, status, ask) => {
  const error = refused(Number(status));
  const stored = new EffectRefused("cancel", refusalOf(error));
  for (const one of [error, stored])
    expect(await cancelAnswer(Promise.reject(one), asks[ask])).toEqual({ answer });
});

test("without an answer, or while another attempt is under way, it is not asked again", async () => {
  const ask = () => Promise.reject(new Error("asked"));
  const answerTo = (error: Error) => cancelAnswer(Promise.reject(error), ask);
  expect(await answerTo(away)).toEqual({ answer: "unavailable" });
  for (const error of [new EffectInFlight("cancel", 1), new EffectAbsentOnce("cancel", 1)])
    expect(await answerTo(error)).toEqual({ answer: "unknown" });
});
