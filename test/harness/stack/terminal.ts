// A command of ours on a terminal: util-linux' `script` gives it one, and stands between as a person would.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eventually } from "../outages/wait.js";

const cli = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));

/** `columns`: how wide it is; without it, it does not say. */
export function onTerminal(args: string[], env: Record<string, string>, columns?: number) {
  const { PATH = "", HOME = "" } = process.env;
  const line = [process.execPath, cli, ...args].map((word) => `'${word}'`).join(" ");
  const width = columns === undefined ? "" : `stty columns ${columns}; `;
  const child = spawn("script", ["-qefc", `${width}exec ${line}`, "/dev/null"], {
    env: { PATH, HOME, TERM: "dumb", TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
  return {
    /** All that it has shown. */
    shown: () => shown,
    /** Waits until it has shown the text so many times. */
    shows: (text: string, times = 1) =>
      eventually(`"${text}" on a terminal`, () => shown.split(text).length > times).catch(
        ({ message }: Error) => Promise.reject(new Error(`${message}, which shows\n${shown}`)),
      ),
    type: (keys: string) => child.stdin.write(keys),
    /** The exit code; 130 after Ctrl-C. */
    ended: once(child, "close").then(([code]) => code as number | null),
  };
}
