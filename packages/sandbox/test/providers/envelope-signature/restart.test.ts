import { expect, test } from "vitest";
import { sandboxesOfTest } from "../../restarts.js";
import { sender } from "./sender.js";

const { start } = sandboxesOfTest();

test("a restart keeps requests, tokens, files and what is used", async () => {
  const first = await start();
  const before = sender(first);
  const used = await before.all({ reference: "kept" }, ["kept--contract.pdf"]);
  await before.send(used.fileIds, used.esaw_token);
  const open = await before.all({}, ["contract.pdf"]);
  await first.close();

  const second = await start();
  const after = sender(second);
  expect((await after.send(used.fileIds, used.esaw_token)).body.Message).toMatch(/used/);
  expect((await after.send(open.fileIds, open.esaw_token)).status).toBe(200);
  expect(second.ledger("kept").effects).toHaveLength(3);
});

test("the same seed gives the same ids and tokens, another seed others", async () => {
  const [one, twin, other] = await Promise.all(
    ["seed", "seed", "other"].map(async (seed) =>
      sender(await start({ seed })).all({}, ["contract.pdf"]),
    ),
  );
  expect(twin).toEqual(one);
  expect(other?.esaw_token).not.toBe(one?.esaw_token);
});
