// Who can open a body of the inbox: not the receiver that stored it, nor who has the journal's keys; but the relay and operators.
import { expect, test } from "vitest";
import { BodyOpener } from "../../../src/callbacks/inbox/rows.js";
import { startReceiver } from "../../../src/callbacks/receiver/receiver.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { bodyKeys, post, ring, sealRing, subjectOf } from "../support.js";
import { ofFile } from "../../harness/of-file.js";

const journal = KeyRing.parse(generateKeyRing("journal"));

const database = ofFile(testDatabase);
const receiver = ofFile(() =>
  startReceiver({
    pool: database.pool,
    ring,
    sealRing,
    host: "127.0.0.1",
    port: 0,
  }),
);

async function stored() {
  const subject = subjectOf();
  expect((await post(receiver.url, subject, { Identifier: "e-1" })).status).toBe(204);
  const { rows } = await database.pool.query<{
    id: string;
    address: string;
    identifier: string;
    sealedBody: Buffer;
  }>(
    'select id, address, identifier, body as "sealedBody" from trustflow.callbacks where workflow_id = $1',
    [subject.workflowId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("nothing was stored");
  return { subject, row };
}

test("what the receiver stores opens with the private inbox key, and with nothing that the receiver has", async () => {
  const { row } = await stored();
  expect(new BodyOpener(bodyKeys).open(row).toString()).toBe('{"Identifier":"e-1"}');
  const { id, bytes } = sealRing.active;
  const others = [
    // All keys of a receiver, and those of the journal, each under the id that the body names.
    sealRing,
    ...[ring, journal].map((other) =>
      KeyRing.parse(`${id}:${other.active.bytes.toString("base64")}`),
    ),
    KeyRing.parse(generateBoxRing(id).privateRing),
  ];
  expect(bytes).toHaveLength(32);
  for (const inbox of others) expect(() => new BodyOpener(inbox).open(row)).toThrow("sealed box");
});
