import { afterEach, expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox.js";
import { ofFile } from "../../../../../test/harness/of-file.js";
import { documentForm, signer } from "./signer.js";

const sandbox = ofFile(() => startSandbox({ speed: "manual" }));
const caller = signer(sandbox);
afterEach(() => sandbox.faults.clear());

const effects = (intent: string) => sandbox.ledger(intent).byIntent[intent] ?? {};
const duplicates = (intent: string) => sandbox.ledger(intent).duplicates;
const count = (intent: string, operation: string) =>
  effects(intent)[`one-shot-signature.${operation}`] ?? 0;

test("each effect is recorded once, under the payload's reference", async () => {
  const { id, otp } = await caller.bring({
    payload: { reference: "once", identityVideo: true },
    documents: ["contract.pdf", "annex.pdf"],
    hashes: ["third.pdf"],
    video: "approved",
    otp: "replaced",
  });
  expect((await caller.sign(id, otp!)).status).toBe(400);
  await caller.sign(id, sandbox.messages("once").at(-1)!.otp!);
  const named = (operations: Record<string, number>) =>
    Object.fromEntries(
      Object.entries(operations).map(([name, n]) => [`one-shot-signature.${name}`, n]),
    );
  expect(effects("once")).toEqual(
    named({
      create: 1,
      createIdentityVideo: 1,
      uploadEvidences: 1,
      uploadVideo: 1,
      approveIdentityVideo: 1,
      uploadDocument: 2,
      uploadHash: 1,
      otp: 2,
      sign: 1,
    }),
  );
  expect(duplicates("once")).toEqual([]);
});

test("a second request, a document under the same name, an evidence and an update again are duplicates", async () => {
  const payload = { reference: "twice" };
  await caller.create(payload);
  const { id } = await caller.bring({ payload, documents: ["a.pdf", "a.pdf"], video: "evidences" });
  const evidences = { form: documentForm("front.jpg") };
  await caller.send("POST", `identity-video/${id}/evidences`, evidences);
  for (const language of ["es", "es", "it"])
    await caller.send("PATCH", `identity-video/${id}`, { body: { language } });
  const found = duplicates("twice").map(({ operation, count }) => [operation.split(".")[1], count]);
  expect(found).toEqual([
    ["create", 2],
    ["uploadEvidences", 2],
    ["uploadDocument", 2],
    ["updateIdentityVideo", 2],
  ]);
});

test("cut-after-commit: the signature is there, the answer is not, and no second one comes", async () => {
  const payload = { reference: "cut", sandbox: "sign=cut-after-commit" };
  const { id, otp } = await caller.bring({ payload, documents: ["contract.pdf"], otp: "fresh" });
  await expect(caller.sign(id, otp!)).rejects.toThrow();
  expect(count("cut", "sign")).toBe(1);
  expect((await caller.sign(id, otp!)).status).toBe(409);
  expect(count("cut", "sign")).toBe(1);
});

test("invisible: the first retrieves miss the new request", async () => {
  const id = await caller.create({ sandbox: "create=invisible" });
  const statuses: number[] = [];
  for (let turn = 0; turn < 3; turn += 1)
    statuses.push((await caller.send("GET", `document/${id}`)).status);
  expect(statuses).toEqual([404, 404, 200]);
});

test("a document that is too large is refused", async () => {
  const small = await startSandbox({ speed: "manual", maxDocumentBytes: 100 });
  const its = signer(small);
  const id = await its.create();
  const form = documentForm("contract.pdf", Buffer.alloc(101, "x"));
  expect((await its.send("POST", `document/${id}`, { form })).status).toBe(400);
  await small.close();
});
