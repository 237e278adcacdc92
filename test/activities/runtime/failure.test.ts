// What a provider's refusal becomes for the caller: each field named once, in the caller's spelling.
import { expect, test } from "@jest/globals";
import { refusalOf } from "../../../src/activities/runtime/failure.js";
import { providerError } from "../attempts.js";

test.each([
  ["disposableHolder.birthCity", "disposableHolder.birthCity: is required", "is required"],
  ["disposableHolder.birthCity", "birthCity is required", "is required"],
  ["disposableHolder.birthCity", "birthCityCode is required", "birthCityCode is required"],
  ["disposableHolder.birthCity", "birthCity", "was refused"],
  ["RecipientAddress.Region", "recipientaddress.region must not be empty", "must not be empty"],
  ["", "Invalid", "Invalid"],
])("the field %j with the message %j is named once", (fieldName, message, problem) => {
  const error = providerError("invalidRequest", { fields: [{ fieldName, message }] });
  expect(refusalOf(error).fields.map((field) => field.problem)).toEqual([problem]);
});

test("a refusal without a classifier shows the type of its problem document (P2 §7.2)", () => {
  const type = "https://tools.ietf.org/html/rfc9110#section-15.5.1";
  expect(refusalOf(providerError("invalidRequest", { type })).code).toBe(type);
  expect(refusalOf(providerError("invalidRequest", { type, code: "E1" })).code).toBe("E1");
  const sentence = providerError("invalidRequest", { type: "Ana lives at # 7" });
  expect(refusalOf(sentence)).not.toHaveProperty("code");
});
