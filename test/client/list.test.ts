// `list` goes on at what a stranger has put into a memo, and shows only proposals of our workers; Temporal's list is the test's.
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Payload } from "@temporalio/common";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Trustflow } from "../../src/client.js";
import { loadConfig } from "../../src/config/config.js";
import { proposalsMemo } from "../../src/contracts/shared/names.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { EncryptionCodec } from "../../src/temporal/codec/codec.js";
import { dataConverter } from "../../src/temporal/codec/data-converter.js";
import { temporaryFolder } from "../harness/temporary.js";
import { clientOf } from "../temporal/visibility/listed-processes.js";
import type { Listed } from "../temporal/visibility/listed-processes.js";

const before = process.env;
const ring = KeyRing.parse(generateKeyRing("k1"));
const own = [{ attention: "submit-1", decision: "abandon", principal: "ana" }];
const context = { type: "workflow", namespace: "default", workflowId: "sendPostal/x" } as const;
const plain = (value: unknown) => defaultPayloadConverter.toPayload(value);
const sealed = async (value: unknown) =>
  (await new EncryptionCodec(ring).encode([plain(value)], context))[0]!;
const field = (encoding: string, keyId: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding), "encryption-key-id": Buffer.from(keyId) },
  data: Buffer.from("junk"),
});

const folder = await temporaryFolder();
beforeAll(async () => {
  await writeFile(join(folder, "trustflow.toml"), "");
  process.env = { TRUSTFLOW_CONFIG: join(folder, "trustflow.toml") };
});
afterAll(async () => {
  process.env = before;
});

/** What `list` shows of processes with these memos. */
async function listed(memos: Record<string, Payload>[], refusePlaintext = false) {
  const shown = memos.map((memo, index): Listed => ({ id: `${index}`, status: "running", memo }));
  const { client } = clientOf(() => shown, dataConverter(ring, undefined, refusePlaintext));
  const trustflow = Reflect.construct(Trustflow, [
    { connected: { client }, ring, config: loadConfig() },
  ]) as Trustflow;
  const found = [];
  for await (const { id, proposals } of trustflow.list({ attention: true }))
    found.push({ id, proposals });
  return found;
}

test("a memo that cannot be read hides no process, and a proposal of the workers is shown", async () => {
  const junk = [
    { anything: field("binary/encrypted", "k1") },
    { [proposalsMemo]: field("binary/encrypted", "another") },
    { [proposalsMemo]: field("json/plain", "") },
    { anything: field("unheard of", "") },
  ];
  const found = await listed([...junk, { [proposalsMemo]: await sealed(own) }]);
  expect(found.map(({ id }) => id)).toEqual(["0", "1", "2", "3", "4"]);
  expect(found.map(({ proposals }) => proposals)).toEqual([...junk.map(() => undefined), own]);
});

test.each([null, 7, "abandon", { length: 1 }, [null], [{ decision: "abandon", principal: 7 }]])(
  "%j is no list of proposals",
  async (value) => {
    expect(await listed([{ [proposalsMemo]: await sealed(value) }])).toEqual([
      { id: "0", proposals: undefined },
    ]);
  },
);

test("a proposal in clear counts only where plaintext is accepted", async () => {
  const memos = [{ [proposalsMemo]: plain(own) }];
  expect((await listed(memos))[0]?.proposals).toEqual(own);
  expect((await listed(memos, true))[0]?.proposals).toBeUndefined();
});
