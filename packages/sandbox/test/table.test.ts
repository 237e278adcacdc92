// What a command of the sandbox lists, where it is wider than the terminal.
import { afterEach, expect, test } from "vitest";
import { table } from "../src/cli/command.js";

const { isTTY, columns } = process.stdout;
afterEach(() => {
  Object.assign(process.stdout, { isTTY, columns });
});

const at = "2026-11-26T15:00:00.000Z";
const to = "a.very.long.address.of.a.holder@mail.of.the.holder.example.com";
const shown = () => table(["AT", "CHANNEL", "TO", "CODE"], [[at, "email", to, undefined]]);

test("on a terminal each row is a block, and no value is cut", () => {
  Object.assign(process.stdout, { isTTY: true, columns: 80 });
  expect(shown()).toBe(`${at}\n  channel: email\n  to: ${to}`);
});

test("where it fits, and without a terminal, a row is one line", () => {
  Object.assign(process.stdout, { isTTY: true, columns: 120 });
  expect(shown().split("\n")).toHaveLength(2);
  Object.assign(process.stdout, { isTTY: false, columns: 80 });
  expect(shown().split("\n")).toHaveLength(2);
});
