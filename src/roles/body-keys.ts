// The keys of callback bodies, for the relay and the commands that show them.
import type { BodyKeys } from "../callbacks/inbox/body.js";
import { ringOf } from "../config.js";
import type { Config } from "../config.js";

/** What opens callback bodies; those of the release before need the journal's keys too. */
export function bodyKeysOf(config: Config): BodyKeys {
  return {
    inbox: ringOf(config, "inbox"),
    ...(config.keys.journal && { journal: ringOf(config, "journal") }),
  };
}
