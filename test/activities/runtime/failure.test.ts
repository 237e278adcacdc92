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
