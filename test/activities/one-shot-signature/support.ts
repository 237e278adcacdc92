// The activities of the one-shot service beside a simulated one, with journal and documents as in a worker.
import { createOneShotActivities } from "../../../src/activities/one-shot-signature/index.js";
import type { OneShotActivities } from "../../../src/activities/one-shot-signature/index.js";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import type { SignOneShotInput } from "../../../src/client.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { canonicalJson } from "../../../src/crypto/json-digest.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { Journal } from "../../../src/journal/journal.js";
import { addOwner } from "../../../src/journal/ownership.js";
import type { OwnedDocument } from "../../../src/journal/ownership.js";
import { LookUpProofs } from "../../../src/journal/look-up-proofs.js";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { openStore } from "../../harness/documents/open-store.js";
import { hideDocument } from "../../harness/documents/hidden-document.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { accountAt } from "../../providers/one-shot-signature/account.js";
import { inAttempt } from "../attempts.js";

const LEASE_MS = 3_000;
const provider = "one-shot-signature";

export async function openBench() {
  const database = await testDatabase();
  const sandbox = await startSandbox({ speed: "manual" });
  const control = sandboxControl(sandbox.url);
  const ring = KeyRing.parse(generateKeyRing());
  const { directory, documents, close: removeDocuments } = await openStore(ring);
  const token = new Secret("sandbox-token");
  const account = accountAt(sandbox.url, { token, timeoutMs: 0.8 * LEASE_MS });
  const blind = { ...account, paths: { ...account.paths, retrieve: undefined } };
  const activities = createOneShotActivities({
    environmentOf: () => "sandbox",
    accounts: { default: { ...account, lookUpConfiguration: "digest" }, blind },
    defaults: { signOneShot: {} },
    journal: new Journal(database.pool, sealersIn(), { leaseMs: LEASE_MS, lookUpSpacingMs: 20 }),
    lookUpProofs: new LookUpProofs(database.pool, ring, { spacingMs: 20, invisibleMs: 5_000 }),
    digests: {
      of: canonicalJson,
      same: (value: unknown, stored: string) => canonicalJson(value) === stored,
    },
    documents,
    secrets: { open: (text: string) => text, seal: (text: string) => text },
    circuits: new Circuits({ probeMs: 1, failures: 1_000 }),
    ...{ patienceMs: 10, invisibleForMs: 60_000, unavailableForMs: 60_000 },
  } as never);

  const count = (intent: string, operation: string) =>
    sandbox.ledger(intent).byIntent[intent]?.[`${provider}.${operation}`] ?? 0;

  /** The first attempt of an activity of this process. */
  function run<R>(intent: string, work: (all: OneShotActivities) => Promise<R>): Promise<R> {
    const workflowExecution = { workflowId: `signOneShot/${intent}`, runId: "r" };
    return inAttempt(() => work(activities), { namespace: "default", workflowExecution });
  }

  const call = (step: string, occurrence = "0") => ({
    effect: { step, occurrence },
    mode: "quick" as const,
  });

  /** A request whose documents are not uploaded yet. */
  async function created(intent: string, input: SignOneShotInput) {
    const { mode } = call("create");
    const plan = await run(intent, (all) => all.prepare({ input, mode }));
    const { requestPk } = await run(intent, (all) => all.create({ ...call("create"), input }));
    const request = { account: "default", requestPk };
    const upload = async (index: number) => {
      const given = { ...request, file: plan.documents[index]!, asHash: false };
      return run(intent, (all) => all.upload({ ...call(`upload-${index}`), ...given }));
    };
    return { plan, request, upload };
  }

  return {
    ...{ sandbox, control, documents, account, count, run, call, created },
    hide: (document: { uri: string }) =>
      hideDocument({ TRUSTFLOW_DOCUMENTS__DIRECTORY: directory }, document),
    own: (intent: string, document: OwnedDocument) =>
      addOwner(database.pool, { namespace: "default", workflowId: `signOneShot/${intent}` }, [
        document,
      ]),
    /** How often the service was asked for an operation, whatever it answered. */
    async requests(operation: string): Promise<number> {
      const { total } = await control.requests();
      const byStatus = Object.values(total[`${provider}.${operation}`] ?? {});
      return byStatus.reduce((sum, one) => sum + one, 0);
    },
    endLeases: () =>
      database.pool.query("update trustflow.effects set lease_until = clock_timestamp()"),
    async close() {
      await sandbox.close();
      await database.close();
      await removeDocuments();
    },
  };
}
