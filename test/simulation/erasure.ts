// The erasure of a process that has ended, with the code of `trustflow erase` (src/cli/upkeep/erase.ts); and a callback that comes after it.
import { setTimeout as delay } from "node:timers/promises";
import { clientsOf } from "../../src/cli/upkeep/cleanup.js";
import type { OwnTemporal } from "../../src/cli/upkeep/cleanup.js";
import { NothingToErase, erasableOf, erase } from "../../src/cleanup/erase.js";
import { namespacesOf } from "../../src/cleanup/own-namespaces.js";
import { ringOf } from "../../src/config/config.js";
import { documentStoreOf } from "../../src/config/document-store.js";
import { childrenOf } from "../../src/contracts/registry.js";
import { addressOf, closedEvent, post } from "./callbacks.js";
import type { Stage } from "./stage.js";
import { documentFiles, ownDocuments, remainsOf } from "./stored.js";
import { asCommand, cleanUpOnce, whenQuiet } from "./upkeep.js";

const HOUR_MS = 3_600_000;
const MOST_DAYS = 30;
const erased = new Set<string>();

/** Waits for a process that has ended. */
export async function eraseOne(stage: Stage): Promise<void> {
  const { database, random, say } = stage;
  for (let day = 0; day < MOST_DAYS; day += 1) {
    const ended = stage.ended().filter((id) => !erased.has(id));
    const chosen = ended.length > 0 ? random.pick(ended) : undefined;
    if (chosen === undefined) {
      await delay(24 * HOUR_MS);
      continue;
    }
    erased.add(chosen);
    const family = [...childrenOf(chosen), chosen];
    const documents = await whenQuiet(stage, () => ownDocuments(database, family));
    const done = await asCommand(stage, "erase", (own) => eraseFamily(own, chosen));
    if (!done) return;
    if (done.length === 0) {
      say(`retention has deleted ${chosen} before an operator could erase it`);
      return;
    }
    say(`an operator has erased ${chosen}`);
    await lookAt(stage, family, documents);
    await post(stage, "late caller", addressOf(stage, chosen), closedEvent("late"));
    await delay(HOUR_MS);
    await cleanUpOnce(stage);
    await lookAt(stage, family, documents);
    return;
  }
}

async function lookAt(stage: Stage, family: string[], documents: string[]): Promise<void> {
  const { checks, database, files, system } = stage;
  checks.count("erased");
  const { temporal } = system;
  const remains = await whenQuiet(stage, () => remainsOf({ database, files, temporal }, family));
  const kept = documentFiles(files);
  for (const id of documents) if (kept.has(id)) remains.push(`document:${id}`);
  for (const thing of remains) checks.violate("erased", `${thing} is still there`);
}

async function eraseFamily(own: OwnTemporal, workflowId: string): Promise<string[]> {
  const { temporal, requireOwn, pool, config } = own;
  const clients = (await namespacesOf(pool, temporal.namespace)).map(await clientsOf(temporal));
  const options = {
    ...{ client: temporal.client, clients, requireOwn, pool },
    ...{ documents: documentStoreOf(config), codecRing: ringOf(config, "codec") },
  };
  const stored: string[] = [];
  // A child may never have been started, and of an old process retention has deleted everything.
  for (const id of [...childrenOf(workflowId), workflowId])
    await erasableOf({ ...options, workflowId: id }).then(
      () => stored.push(id),
      (error: unknown) => {
        if (!(error instanceof NothingToErase)) throw error;
      },
    );
  for (const id of stored) await erase({ ...options, workflowId: id, by: "operator" });
  return stored;
}
