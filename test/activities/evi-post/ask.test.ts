// A poll of a letter: what the query shows beside state, outcome and dates (P2 §2.5), and the affidavits of a provider that spells ids and
// names files in its own way (P2 §4.1, §6.3).
import { strToU8, zipSync } from "fflate";
import { expect, vi, test } from "vitest";
import { createEviPostActivities } from "../../../src/activities/evi-post/index.js";
import type { AskWait } from "../../../src/workflows/runtime/tracking.js";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { openStore } from "../../harness/documents/open-store.js";
import { accountAt } from "../../providers/evi-post/account.js";
import { startProviderServer } from "../../providers/provider-server.js";
import { depsWithoutRows, inAttempt } from "../attempts.js";
import { post } from "../../../packages/sandbox/test/caller.js";
import { ofFile } from "../../harness/of-file.js";

const DOWNLOAD_LIMIT_MS = 60_000;
const letter = "c8296b2a-8594-49d9-b214-180c735beed3";
const sandbox = ofFile(() => startSandbox({ speed: "manual" }));

const login = { username: "sandbox", password: new Secret("sandbox") };

function asked(url: string, uniqueId: string, more: object = {}, wait: AskWait = "now") {
  const deps = depsWithoutRows(accountAt(url, login), {
    journal: { now: async () => new Date(), addOwner: async () => undefined },
    ...{ patienceMs: 1000, invisibleForMs: 60_000, unavailableForMs: 1000 },
    ...more,
  });
  const { ask } = createEviPostActivities(deps);
  return inAttempt(
    () =>
      ask({
        ...{ account: "default", uniqueId, submittedAt: new Date().toISOString() },
        ...{ stored: [], refetch: false, wait, mode: "quick", seen: undefined },
      }),
    { workflowExecution: { workflowId: "letter-1", runId: "r" } },
  );
}

test("the snapshot has the recipient, the address and the cost centre", async () => {
  const uniqueId = await post(sandbox.url, {
    RecipientName: "Ana Ruiz",
    Options: { CostCentre: "legal" },
  });
  const { snapshot } = await asked(sandbox.url, uniqueId);
  expect(snapshot.shown).toMatchObject({
    recipientName: "Ana Ruiz",
    address: { streetAddress: expect.any(String), country: "ES" },
    costCentre: "legal",
  });
});

test.each([
  ["whose files name no id", 2, undefined],
  ["of which one comes as a page", 1, { status: 200, kind: "protocol" }],
  ["of which one is not there", 1, { status: 404, kind: "notVisibleYet" }],
])(
  "ids come in any case, and affidavits %s are asked for one at a time",
  async (_, kept, refused) => {
    const ids = ["a7377981-0f07-4f00-8d69-c32f10a7a3b2", "7b79db67-9d8c-4f7e-8c62-0ddae2cb4a27"];
    const downloads: string[] = [];
    const server = await startProviderServer(({ path, query }, response) => {
      if (path.endsWith("/Download")) {
        const wanted = (query["AffidavitIds"] ?? "").split(",");
        downloads.push(wanted.join());
        if (refused && wanted.includes(ids[0] ?? "")) {
          response.writeHead(refused.status, { "content-type": "text/html" });
          return void response.end("<html>");
        }
        const files = wanted.map((id, at) => [`Affidavit_${at}.pdf`, strToU8(`%PDF-1.7 ${id}`)]);
        response.writeHead(200, { "content-type": "application/zip" });
        response.end(zipSync(Object.fromEntries(files)));
        return;
      }
      const affidavits = ids.map((uniqueId) => ({ uniqueId, kind: "Closed" }));
      const item = { evidenceId: letter, state: "Closed", outcome: "Delivered", affidavits };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ results: [item], totalMatches: 1 }));
    });
    const { documents, close } = await openStore();
    try {
      const answer = await asked(server.url, letter.toUpperCase(), { documents });
      expect(answer).toMatchObject({ missing: 2 - kept, snapshot: { outcome: "Delivered" } });
      expect(answer.documents.map(({ uniqueId }) => uniqueId)).toEqual(ids.slice(-kept));
      expect(new Set(answer.documents.map(({ document }) => document.sha256)).size).toBe(kept);
      expect(downloads).toEqual([ids.join(), ...ids]);
      // The last look says what came.
      const last = asked(server.url, letter, { documents }, "affidavits");
      if (refused)
        await expect(last).rejects.toMatchObject({
          message: expect.stringContaining(`answered ${refused.status}`),
          details: [{ kind: refused.kind }],
        });
      else expect(await last).toMatchObject({ missing: 0 });
    } finally {
      await server.close();
      await close();
    }
  },
);

test("a slow download keeps no state from the process, and opens no circuit", async () => {
  const { setTimeout: startTimer } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, ms: number) =>
    startTimer(work, ms === DOWNLOAD_LIMIT_MS ? 300 : ms)) as never);
  const server = await startProviderServer(({ path }, response) => {
    if (path.endsWith("/Download")) {
      response.writeHead(200, { "content-type": "application/zip" });
      const pieces = setInterval(() => response.write("PK"), 50);
      return void response.on("close", () => clearInterval(pieces));
    }
    const affidavits = [{ uniqueId: "a-1", kind: "Closed" }];
    const item = { evidenceId: letter, state: "Closed", outcome: "Delivered", affidavits };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ results: [item], totalMatches: 1 }));
  });
  const { documents, close } = await openStore();
  const circuits = new Circuits({ probeMs: 60_000, failures: 1 });
  try {
    const answer = await asked(server.url, letter, { documents, circuits });
    expect(answer).toMatchObject({ missing: 1, snapshot: { outcome: "Delivered" } });
    const query = { account: "evi-post/default", operation: "query", intent: "letter-1" };
    expect(circuits.openError(query)).toBeUndefined();
  } finally {
    vi.restoreAllMocks();
    await server.close();
    await close();
  }
});
