import { expect, test } from "vitest";
import { NotAcceptedError } from "../../src/client.js";

test("a refusal says which fields the provider did not take", () => {
  const fields = [
    { path: "recipientAddress.region", problem: "must not be empty" },
    { path: "", problem: "Invalid" },
  ];
  const coded = new NotAcceptedError({ provider: "evi-post", code: "ValidationError", fields });
  expect(coded.message).toBe(
    "evi-post did not accept it (ValidationError): recipientAddress.region must not be empty; Invalid",
  );
  expect(new NotAcceptedError({ provider: "evi-post", fields: [] }).message).toBe(
    "evi-post did not accept it",
  );
});
