// Sixty days of a letter, with simulated providers and a clock of the test's own.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Trustflow } from "trustflow-dev";
import { sendContract, stateOf } from "../contract.js";

const MINUTE_MS = 60_000;
let trustflow;

beforeAll(async () => {
  trustflow = await Trustflow.embedded({ clock: "virtual" });
}, 5 * MINUTE_MS);
afterAll(() => trustflow.close(), MINUTE_MS);

const order = async (id, name) => ({
  order: id,
  name, // what the simulated provider does with it
  address: {
    streetAddress: "Calle Mayor 1",
    postalCode: "28013",
    locality: "Madrid",
    region: "Madrid",
    country: "ES",
  },
  pdf: await readFile(new URL("../../letter.pdf", import.meta.url), "base64"),
});

test(
  "a contract that the post delivers after sixty days is on its way until then",
  async () => {
    const contract = await order("order-1", "sandbox:delivered-after-60-days");
    const letter = await sendContract(trustflow, contract);

    await trustflow.clock.advance("59 days");
    expect(await stateOf(letter)).toBe("Sent");

    const { outcome, timeline } = await trustflow.clock.runUntil(letter.result());
    expect(outcome).toBe("delivered");
    expect(await stateOf(letter)).toBe("done");

    const delivered = timeline.find(({ event }) => event === "Delivered");
    const sent = timeline.find(({ event }) => event === "Sent");
    expect(Date.parse(delivered.at) - Date.parse(sent.at)).toBe(60 * 24 * 60 * MINUTE_MS);
  },
  5 * MINUTE_MS,
);
