// An empty folder in the place of the document store: nothing of it is believed (docs/operations/retention.md).
import { expect, test } from "vitest";
import { requireOwnStore } from "../../src/cleanup/own-store.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { textOf } from "../deploy/compose-file.js";
import { openStore } from "../harness/documents/open-store.js";
import { testDatabase } from "../harness/stack/postgres.js";

test("a folder without a data key is refused where a process owns documents, and taken where none does", async () => {
  const database = await testDatabase();
  const { documents, close } = await openStore(KeyRing.parse(generateKeyRing()));
  await requireOwnStore(database.pool, documents);
  const owned =
    "insert into trustflow.documents (id, namespace, workflow_id, kind) values ('0', 'default', 'a', 'submitted')";
  await database.pool.query(owned);
  await expect(requireOwnStore(database.pool, documents)).rejects.toThrow("is not mounted");
  for (const ids of [["a"], ["b", "a"]])
    await expect(requireOwnStore(database.pool, documents, ids)).rejects.toThrow("is not mounted");
  await requireOwnStore(database.pool, documents, ["b"]);
  // The page's way on, where the folder is lost.
  const [, forget = ""] = /`(delete from [^`]+)`/.exec(textOf("docs/operations/upgrade.md")) ?? [];
  await database.pool.query(forget);
  await requireOwnStore(database.pool, documents);
  await database.pool.query(owned);
  await documents.dataKeys.of({ namespace: "default", workflowId: "a" });
  await requireOwnStore(database.pool, documents, ["a"]);
  await Promise.all([database.close(), close()]);
});
