// Checks the configuration itself, and the folder that it names.
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { type Config, ringOf } from "../../config.js";
import { publicRingOf } from "../../crypto/sealed-box.js";
import { accountsWithSecretCallbacks } from "../../providers/callbacks.js";
import { NotExamined, Problem, setting } from "./check.js";
import type { FindingName } from "./findings.js";

export const ringNames = ["codec", "callback", "journal", "inbox", "documents"] as const;
/** Key rings that some roles and deployments do not have. */
export const optionalRingNames = ["codecWrite", "secrets"] as const;
type RingName =
  | (typeof ringNames)[number]
  | (typeof optionalRingNames)[number]
  | "secretsPublic"
  | "inboxPublic"
  | "operator";

export function ring(config: Config, name: RingName, malformed: FindingName = "keysMalformed") {
  setting(config.keys[name], `keys.${name}`);
  try {
    return ringOf(config, name);
  } catch (error) {
    throw new Problem(malformed, (error as Error).message);
  }
}

export async function optionalRing(config: Config, name: RingName): Promise<string> {
  if (config.keys[name] === undefined) throw new NotExamined("not configured here");
  return `active key ${ring(config, name).active.id}`;
}

/** Clients seal with it, and a relay what callbacks carry. */
export async function secretsPublicRing(config: Config): Promise<string> {
  const accounts = accountsWithSecretCallbacks(config);
  if (config.keys.secretsPublic !== undefined || accounts.length === 0)
    return optionalRing(config, "secretsPublic");
  throw new Problem(
    "secretsPublicMissing",
    `not configured here: a relay without it keeps no secret of the callbacks of ${accounts.join(", ")}`,
  );
}

/** Only the receiver has the public ring, so it is often missing here. */
export async function inboxPublicRing(config: Config): Promise<string> {
  if (config.keys.inboxPublic === undefined)
    throw new NotExamined("not configured here: the receiver has it");
  const [given] = ring(config, "inboxPublic").all;
  const fitting = publicRingOf(ring(config, "inbox")).split(",");
  if (given && fitting.includes(`${given.id}:${given.bytes.toString("base64")}`))
    return `seals to key ${given.id} of keys.inbox`;
  throw new Problem(
    "inboxKeysDiffer",
    `the first key of keys.inboxPublic ("${given?.id}") is not in keys.inbox: the relay cannot open what the receiver stores`,
  );
}

/** Creates the folder if it is missing, as a worker does. */
export async function documentStore({ documents }: Config): Promise<string> {
  const directory = setting(documents.directory, "documents.directory");
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Problem("documentStoreUnusable", `cannot use ${directory}: ${code}`);
  }
  return `directory ${directory}`;
}
