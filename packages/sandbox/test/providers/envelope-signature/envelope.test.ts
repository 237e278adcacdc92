import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox, type Sandbox } from "../../../src/sandbox.js";
import { exchange } from "../../exchange.js";
import { certificateOf, creation, sender } from "./sender.js";

let sandbox: Sandbox;
let caller: ReturnType<typeof sender>;
beforeAll(async () => {
  sandbox = await startSandbox({ speed: "manual" });
  caller = sender(sandbox);
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.faults.clear());

const effects = (intent: string) => sandbox.ledger(intent).byIntent[intent];

test("each host serves its own operations, and no others (P1 §4.5)", async () => {
  const plain = { ...creation, clientCertificate: false, body: {} };
  expect((await exchange(sandbox, plain)).status).toBe(404);
  const headers = { apitoken: "sandbox-api-token" };
  const send = { ...creation, path: "/Api/v6/envelope/send", headers, body: {} };
  expect((await exchange(sandbox, send, certificateOf(sandbox, "sandbox"))).status).toBe(404);
});

test("each effect is recorded once, under the reference, also of the file and the envelope", async () => {
  const names = ["order-1--contract.pdf", "order-1--annex.pdf"];
  const { esaw_token, fileIds } = await caller.all({ reference: "order-1" }, names);
  await caller.send(fileIds, esaw_token);
  expect(effects("order-1")).toEqual({
    "envelope-signature.esawoneshot": 1,
    "envelope-signature.upload": 2,
    "envelope-signature.send": 1,
  });
  expect(sandbox.ledger("order-1").duplicates).toEqual([]);
});

test("a second certificate request is a duplicate, a file that is uploaded again is none", async () => {
  const body = { reference: "order-2" };
  await caller.all(body, ["order-2--contract.pdf", "order-2--contract.pdf"]);
  await caller.create(body);
  expect(sandbox.ledger("order-2").duplicates).toEqual([
    { intent: "order-2", operation: "envelope-signature.esawoneshot", count: 2 },
  ]);
});

test("cut-after-commit: the envelope is sent, its token is used", async () => {
  const body = { reference: "order-3", sandbox: "send=cut-after-commit" };
  const { esaw_token, fileIds } = await caller.all(body, ["order-3--contract.pdf"]);
  await expect(caller.send(fileIds, esaw_token)).rejects.toThrow();
  expect((await caller.send(fileIds, esaw_token)).status).toBe(400);
  expect(effects("order-3")).toMatchObject({ "envelope-signature.send": 1 });
});

test("a fault of the request hits the upload whose name begins with its reference", async () => {
  await caller.create({ reference: "order-4", sandbox: "upload=reject-503" });
  expect((await caller.upload("order-5--contract.pdf")).status).toBe(200);
  expect((await caller.upload("order-4--contract.pdf")).status).toBe(503);
  expect((await caller.upload("order-4--contract.pdf")).status).toBe(200);
});

test("the envelope host refuses in its own error shape", async () => {
  sandbox.faults.add({ operation: "envelope-signature.*", kind: "reject", times: "always" });
  expect((await caller.upload()).body).toEqual({
    ErrorId: "Sandbox",
    Message: expect.any(String),
  });
});

test("a refused envelope uses up neither token nor files", async () => {
  const { esaw_token, fileIds } = await caller.all({}, ["contract.pdf"]);
  expect((await caller.send([...fileIds, "unknown"], esaw_token)).status).toBe(400);
  expect((await caller.send(fileIds, "unknown")).status).toBe(400);
  expect((await caller.send(fileIds, esaw_token)).status).toBe(200);
});

test("a token of another account is unknown", async () => {
  const { esaw_token } = (await caller.create()).body;
  const other = sender(sandbox, "colleague");
  const { FileId } = (await other.upload()).body;
  expect((await other.send([FileId], esaw_token)).body.Message).toBe("requestToken: unknown");
});

test("an upload without ApiToken is noted", async () => {
  await exchange(sandbox, { method: "POST", path: "/Api/v6/file/upload", body: {} });
  expect(sandbox.ledger().violations).toMatchObject([
    { kind: "missingAuthorization", detail: "no ApiToken header" },
  ]);
});

test("items show requests and files, an orphan too, and no token", async () => {
  const { req_pk, esaw_token, fileIds } = await caller.all({ reference: "shown" }, [
    "shown--contract.pdf",
    "shown--orphan.pdf",
  ]);
  const { EnvelopeId } = (await caller.send(fileIds.slice(0, 1), esaw_token)).body;
  const control = sandboxControl(sandbox.url);
  const { items } = await control.items({ intent: "shown" });
  expect(items.map(({ id, state }) => [id, state])).toEqual([
    [req_pk, "sent"],
    [fileIds[0], "enveloped"],
    [fileIds[1], "uploaded"],
  ]);
  const shown = await control.item(req_pk);
  expect(shown).toMatchObject({ envelope: { id: EnvelopeId, fileIds: fileIds.slice(0, 1) } });
  expect(JSON.stringify(shown)).not.toContain(esaw_token);
});
