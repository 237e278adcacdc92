// The activities of the video identification service beside a simulated one, with journal, documents and sealed tokens as in a worker.
import { randomUUID } from "node:crypto";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { createVideoActivities } from "../../../src/activities/video-identification/index.js";
import type { VideoActivities } from "../../../src/activities/video-identification/index.js";
import { storeEventSecrets } from "../../../src/callbacks/inbox/event-secrets.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { openStore } from "../../harness/documents/open-store.js";
import { Journal } from "../../../src/journal/journal.js";
import type { VideoIdentificationAccount } from "../../../src/providers/video-identification/client.js";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import type { FaultOptions } from "../../../packages/sandbox/src/engine/faults.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { WorkerSecrets } from "../../../src/temporal/codec/secrets.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { accountAt, pointers } from "../../providers/video-identification/account.js";
import { videoCaller } from "../../../packages/sandbox/test/providers/video-identification/caller.js";
import { inAttempt } from "../attempts.js";

export type Bench = Awaited<ReturnType<typeof openBench>>;

interface Following {
  words?: string[];
  until?: "closed" | "audit" | "deleted";
  account?: Partial<VideoIdentificationAccount>;
}

const ring = () => KeyRing.parse(generateKeyRing());
const secretsRing = () => new WorkerSecrets(KeyRing.parse(generateBoxRing().privateRing));

export async function openBench() {
  const database = await testDatabase();
  const sandbox = await startSandbox({ speed: "manual" });
  const caller = videoCaller(sandbox);
  const control = sandboxControl(sandbox.url);
  const secrets = secretsRing();
  const { directory, documents, close: removeDocuments } = await openStore(ring());
  const journal = new Journal(database.pool, sealersIn(), {
    leaseMs: 2_000,
    lookUpSpacingMs: 100,
  });

  /** A conference of its own, and a process that follows it. */
  async function follow({ words = [], until, account }: Following = {}) {
    const idConference = await caller.bring({ words, ...(until && { until }) });
    const workflowId = `verifyIdentity/${randomUUID()}`;
    const processKey = { namespace: "default", workflowId };
    const deps = {
      environmentOf: () => "sandbox",
      accounts: {
        default: accountAt(sandbox.url, {
          apiKey: new Secret("sandbox-api-key"),
          pointers,
          ...account,
        }),
      },
      digests: { of: (value: unknown) => JSON.stringify(value), same: () => true },
      circuits: new Circuits({ probeMs: 1_000, failures: 5 }),
      ...{ journal, documents, secrets },
      ...{ patienceMs: 1_000, invisibleForMs: 60_000, unavailableForMs: 1_000 },
    };
    const activities = createVideoActivities(deps as never);
    const given = { account: "default", idConference, mode: "quick" } as const;

    function run<R>(work: (activities: VideoActivities) => Promise<R>, info = {}): Promise<R> {
      const workflowExecution = { workflowId, runId: "r" };
      return inAttempt(() => work(activities), {
        workflowExecution,
        namespace: "default",
        ...info,
      });
    }

    /** One answer, whatever it says. */
    function ask(more: Partial<Parameters<VideoActivities["ask"]>[0]> = {}, info = {}) {
      const request = { ...given, hasCloseEvent: false, seen: undefined };
      return run(({ ask: one }) => one({ ...request, wait: "now", ...more }), info);
    }

    /** A close event has brought this token: each later one is the newest. */
    async function bringToken(token: string, sealedBy = secrets): Promise<string> {
      const eventId = randomUUID();
      const sealed = sealedBy.seal(token, processKey);
      await storeEventSecrets(database.pool, processKey, [{ eventId, sealed }]);
      return eventId;
    }

    const [intent = ""] = idConference.split("~");
    const asked = async () => {
      const { newest } = await control.requests();
      return newest.filter((entry) => entry.intent === intent).map(({ operation }) => operation);
    };

    /** Also the operations that the service was asked for meanwhile, in their order. */
    async function watched<R>(work: () => Promise<R>): Promise<{ answer: R; calls: string[] }> {
      const before = await asked();
      const answer = await work();
      const calls = (await asked()).slice(before.length);
      return { answer, calls: calls.map((name) => name.replace("video-identification.", "")) };
    }

    const effects = () => sandbox.ledger(intent).byIntent[intent] ?? {};
    /** Of this conference alone; the operation without its provider. */
    const fault = (operation: string, how: Pick<FaultOptions, "kind" | "status" | "times">) =>
      sandbox.faults.add({
        operation: `video-identification.${operation}`,
        lookupKey: intent,
        ...how,
      });
    const own = {
      idConference,
      intent,
      fault,
      given,
      run,
      ask,
      bringToken,
      watched,
      effects,
      processKey,
    };
    return { ...own, token: () => caller.tokenOf(idConference) };
  }

  return {
    ...{ sandbox, control, caller, documents, directory, journal, follow, pool: database.pool },
    strangers: secretsRing(),
    async close() {
      await sandbox.close();
      await database.close();
      await removeDocuments();
    },
  };
}
