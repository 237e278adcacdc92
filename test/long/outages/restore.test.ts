// A backup that is made while processes are open brings all of them back, with one effect each (docs/operations/upgrade.md): Temporal,
// PostgreSQL by its own base backup, and the documents with the data keys.
import { afterAll, beforeAll, expect, test } from "vitest";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Trustflow } from "../../../src/client.js";
import type { RoleName } from "../../../packages/dev/src/stack/role.js";
import { eventually } from "../../harness/outages/wait.js";
import { baseBackup, copy } from "../../harness/stack/base-backup.js";
import { inboxRows } from "../../harness/stack/inbox.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { temporaryFolder } from "../../harness/temporary.js";
import { sendPostalUnderTest as underTest } from "../../processes/send-postal/under-test.js";

const MINUTE_MS = 60_000;
const roles: RoleName[] = ["receiver", "relay", "worker"];
const run = promisify(execFile);

let system: TestStack;
let backup: string;

beforeAll(async () => {
  system = await startTestStack({ persistent: true, sandboxSpeed: "manual" });
  backup = await temporaryFolder();
}, 120_000);
afterAll(async () => {
  await system?.close();
  if (system) await rm(system.stack.directory, { recursive: true, force: true });
}, 60_000);

const here = (...path: string[]) => join(system.stack.directory, ...path);

async function backUp(): Promise<void> {
  const { temporal } = system.stack;
  await temporal.kill();
  await run("sh", ["-c", `cp -a ${here("temporal.db")}* ${backup}`]);
  await temporal.restart();
  await baseBackup(system.pool, here("postgres", "data"), backup);
  await copy(here("documents"), backup);
}

async function restore(): Promise<void> {
  const { temporal, postgres } = system.stack;
  for (const name of roles) await system.stack.role(name).stop();
  await temporal.kill();
  await postgres?.stop();
  await run("sh", [
    "-c",
    `rm -r ${here("temporal.db")}* ${here("postgres", "data")} ${here("documents")}`,
  ]);
  await run("sh", ["-c", `cp -a ${backup}/temporal.db* ${backup}/documents ${here()}`]);
  await copy(join(backup, "data"), here("postgres"));
  await postgres?.start();
  await temporal.restart();
}

async function startTracked(id: string, client = system.client) {
  const handle = await underTest.start(client, id);
  await eventually("tracking", async () => (await handle.status()).phase === "tracking");
  return handle;
}

test("what the backup has goes on, and what it forgot is taken up again by the provider's memory", async () => {
  const known = await startTracked("known");
  // Its document is read after the restore, so the data keys have to be there.
  await system.sandbox.putAccount("sandbox", { password: "changed" });
  const waiting = await underTest.start(system.client, "waiting");
  await statusWhere(waiting, ({ attention }) => attention?.kind === "accessDenied");
  await backUp();
  await system.sandbox.putAccount("sandbox", { password: "sandbox" });
  const forgotten = await startTracked("forgotten");
  await restore();

  // First the callbacks: those of the forgotten letter wait for a person.
  for (const name of ["receiver", "relay"] as const) await system.stack.role(name).restart();
  await eventually("the callbacks", async () => {
    await system.sandbox.advance(MINUTE_MS);
    const rows = await inboxRows(system, forgotten.workflowId);
    return rows.length > 0 && rows.every(({ state }) => state === "parked");
  });
  await system.stack.role("worker").restart();
  // An application that went on would use a data key that was restored away.
  const client = await Trustflow.connect();
  const again = await startTracked("forgotten", client);

  for (const handle of [known, waiting, again]) {
    await eventually(
      `the end of ${handle.id}`,
      async () => {
        const { pending } = (await system.sandbox.callbacks()).counts;
        await system.sandbox.advance(pending > 0 ? MINUTE_MS : 360 * MINUTE_MS);
        return !(await handle.isOpen());
      },
      100_000,
    );
    expect((await handle.result()).outcome).toBe(underTest.outcome);
    expect(await system.effects(handle.id)).toEqual(underTest.effects);
  }
  await client.close();
}, 300_000);
