// The commands `worker`, `receiver`, `relay` and `codec-server`; each runs one role as one process (docs/design.md §12).
import type { Command } from "commander";
import { loadWithAccounts } from "../providers/accounts.js";
import { addCommand } from "./command.js";
import { runRole } from "./role.js";

export function addRoles(program: Command): void {
  const roles = [
    [
      "worker",
      "run the workflows and call the providers",
      async () => (await import("../roles/worker.js")).worker,
    ],
    [
      "receiver",
      "receive the providers' callbacks and store them in the inbox",
      async () => (await import("../roles/receiver.js")).receiver,
    ],
    [
      "relay",
      "deliver callbacks from the inbox to their processes",
      async () => (await import("../roles/relay.js")).relay,
    ],
    [
      "codec-server",
      "decode payloads for the Web UI",
      async () => (await import("../roles/codec-server.js")).codecServer,
    ],
  ] as const;
  for (const [name, summary, load] of roles) {
    addCommand(program, name, {
      summary,
      details: `Runs until SIGTERM or SIGINT, then finishes the work in progress and ends with 0; a second signal changes nothing.
Prints one JSON line when it is ready: {"ready":"${name}",…}; logs go to stderr.`,
      example: `trustflow ${name}`,
    }).action(() =>
      runRole(name, async () => {
        const start = await load();
        return start(loadWithAccounts());
      }),
    );
  }
}
