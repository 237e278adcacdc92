// Gives worker and doctor what is known of the accounts' look-ups (docs/decisions/0017).
import { ringOf } from "./config.js";
import type { Config } from "./config.js";
import { LookUpProofs } from "../journal/look-up-proofs.js";
import type { Pool } from "../postgres/pool.js";

export function lookUpProofsOf(config: Config, pool: Pool): LookUpProofs {
  return new LookUpProofs(pool, ringOf(config, "journal"), {
    spacingMs: config.journal.lookUpSpacingSeconds * 1_000,
    invisibleMs: config.attention.invisibleSeconds * 1_000,
  });
}
