// What commands print on a real terminal of 80 columns.
import { expect, test } from "vitest";
import { describeWith } from "../../harness/programs.js";
import { onTerminal } from "../../harness/stack/terminal.js";
import { commandLine } from "../in-process.js";

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");

describeWith("script", "a terminal of 80 columns", () => {
  test.each([[["doctor"]], [["resolve", "--help"]]])(
    "trustflow %j fits it, and shows the same words as without a terminal",
    async (args) => {
      const env = { TRUSTFLOW_CONFIG: "/dev/null" };
      const terminal = onTerminal(args, env, 80);
      await terminal.ended;
      const shown = terminal.shown().replaceAll("\r", "");
      for (const line of shown.split("\n"))
        if (line.length > 80) expect(words(line)).toHaveLength(1);
      const { stdout } = await commandLine(args, { env });
      expect(words(shown).filter((word) => word !== "\\")).toEqual(
        words(stdout).filter((word) => word !== "\\"),
      );
    },
  );
});
