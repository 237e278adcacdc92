// "sandbox messages --wait", where no message comes.
import { expect, vi, test } from "vitest";
import { addControls } from "../src/cli/control.js";
import type { AddControl } from "../src/cli/command.js";
import { Command } from "commander";

type Ask = (control: { messages(): Promise<object[]> }, options: object) => Promise<unknown>;

test("ends with 3 after a minute, and says how to see which intents there are", async () => {
  const asks: Record<string, Ask> = {};
  addControls(((name: string, _text: object, ask: Ask) => {
    asks[name] = ask;
    return new Command();
  }) as unknown as AddControl);
  vi.spyOn(Date, "now").mockReturnValueOnce(0).mockReturnValue(60_001);
  const control = { messages: () => Promise.resolve([]) };
  await expect(asks["messages"]!(control, { intent: "order-8", wait: true })).rejects.toMatchObject(
    {
      exitCode: 3,
      message:
        'No message of the intent order-8 was sent within a minute; "sandbox messages" lists all',
    },
  );
  expect(await asks["messages"]!(control, { intent: "order-8" })).toEqual([]);
});
