import { expect, test } from "@jest/globals";
import { PostalOptions } from "../../src/contracts/send-postal.js";

test.each(["es", "ES", "pt-BR", "zh-Hant-TW", "cat"])("the language %s is taken", (language) => {
  expect(PostalOptions.safeParse({ language }).success).toBe(true);
});

test.each(["", "Spanish", "pt_BR", "e", "es-"])("the language %j is refused", (language) => {
  expect(PostalOptions.safeParse({ language }).success).toBe(false);
});
