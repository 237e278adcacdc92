// Checks the configuration itself, and the folder that it names.
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import type { Config } from "../../config/config.js";
import { publicRingOf } from "../../crypto/sealed-box.js";
import type { ConfigWithAccounts } from "../../providers/accounts.js";
import { accountsWithSecretCallbacks } from "../../providers/callbacks.js";
import { NotExamined, Problem, ring, setting, skippedCheck } from "./check.js";
import type { Check } from "./check.js";
import { mayOnlyRead } from "../../config/payload-keys.js";
import { decisionRules, operatorKey } from "./operators.js";

const DAY_SECONDS = 86_400;
const MARGIN_DAYS = 30;
/** P2 §8. */
const MAX_TIME_TO_LIVE_DAYS = 60;

export function configuredChecks(config: ConfigWithAccounts): Check[] {
  return [
    ["environment", async () => setting(config.environment, "environment")],
    ...(["codec", "callback", "journal", "inbox", "documents"] as const).map((name): Check => [
      `key ring ${name}`,
      async () => `active key ${ring(config, name).active.id}`,
    ]),
    // Some roles and deployments do not have them.
    ...(["codecWrite", "secrets"] as const).map((name): Check => [
      `key ring ${name}`,
      () => optionalRing(config, name),
    ]),
    ["key ring secretsPublic", () => secretsPublicRing(config)],
    ["key ring inboxPublic", () => inboxPublicRing(config)],
    ["operators", () => decisionRules(config)],
    ["key operator", () => operatorKey(config)],
    ["document store", () => documentStore(config)],
    ["callback address life", async () => addressLife(config)],
  ];
}

/** An application may have less than a role: it can do without what it does not use. */
export function configuredChecksOfClient(config: Config): Check[] {
  const { documents, environment, keys } = config;
  const codec = mayOnlyRead(config) ? "codecRead" : "codec";
  const storeless = "documents.directory is not set here: the application sends documents inline";
  return [
    environment === undefined
      ? skippedCheck("environment", "it is not set here; the workers have it")
      : ["environment", async () => environment],
    [`key ring ${codec}`, async () => `active key ${ring(config, codec).active.id}`],
    ...(["codecWrite", "secretsPublic"] as const).map((name): Check => [
      `key ring ${name}`,
      () => optionalRing(config, name),
    ]),
    ["key operator", () => operatorKey(config)],
    ...(documents.directory === undefined && keys.documents === undefined
      ? [skippedCheck("document store", storeless)]
      : ([
          ["key ring documents", async () => `active key ${ring(config, "documents").active.id}`],
          ["document store", () => documentStore(config)],
        ] satisfies Check[])),
  ];
}

async function optionalRing(
  config: Config,
  name: "codecWrite" | "secrets" | "secretsPublic",
): Promise<string> {
  if (config.keys[name] === undefined) throw new NotExamined("not configured here");
  return `active key ${ring(config, name).active.id}`;
}

/** Clients seal with it, and a relay what callbacks carry. */
async function secretsPublicRing(config: ConfigWithAccounts): Promise<string> {
  const accounts = accountsWithSecretCallbacks(config);
  if (config.keys.secretsPublic !== undefined || accounts.length === 0)
    return optionalRing(config, "secretsPublic");
  throw new Problem(
    "secretsPublicMissing",
    `not configured here: a relay without it keeps no secret of the callbacks of ${accounts.join(", ")}`,
  );
}

/** Only the receiver has the public ring, so it is often missing here. */
async function inboxPublicRing(config: Config): Promise<string> {
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
async function documentStore({ documents }: Config): Promise<string> {
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

/** Addresses must live longer than their process may (docs/decisions/0020). */
function addressLife({ callbacks, sendPostal, sendNotice }: Config): string {
  const letter = daysOf(sendPostal.deadlineSeconds + sendPostal.affidavitWindowSeconds);
  const noticeSpans = [
    sendNotice.deadlineSeconds,
    MAX_TIME_TO_LIVE_DAYS * DAY_SECONDS + sendNotice.deadlineMarginSeconds,
  ];
  const notice = daysOf(Math.max(...noticeSpans) + sendNotice.affidavitWindowSeconds);
  const [what, longest] = notice > letter ? ["notice", notice] : ["letter", letter];
  const detail = `${callbacks.addressDays} days; a ${what} may take ${longest} by the configuration`;
  if (callbacks.addressDays < longest + MARGIN_DAYS) throw new Problem("addressLifeShort", detail);
  return detail;
}

const daysOf = (seconds: number) => Math.ceil(seconds / DAY_SECONDS);
