// `trustflow doctor --client` examines the machine of an application, and asks for nothing that an application does not need.
import { beforeAll, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import type { Checked } from "../../../src/cli/doctor/check.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { eventually } from "../../harness/outages/wait.js";
import { ofFile } from "../../harness/of-file.js";
import { clientIn, registerNamespace, testTemporal } from "../../temporal/support.js";
import { commandLine } from "../in-process.js";

const ring = generateKeyRing("k1");
/** A namespace without search attributes. */
const empty = randomUUID();
const server = ofFile(testTemporal);
let env: Record<string, string>;

beforeAll(async () => {
  const { connection, namespace } = server;
  await registerSearchAttributes(connection, namespace);
  await registerNamespace(server, empty);
  const client = clientIn(server, dataConverter(KeyRing.parse(ring)));
  await client.workflow.start("sendPostal", {
    ...{ taskQueue: "none", workflowId: "sendPostal/a", args: [{}] },
  });
  await eventually(
    "visibility shows it",
    async () => (await client.workflow.count("")).count === 1,
  );
  env = {
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: namespace,
    TRUSTFLOW_KEYS__CODEC: ring,
  };
}, 60_000);

/** What it finds, by the name of the check. */
async function examined(more: Record<string, string> = {}) {
  const { code, stdout } = await commandLine(["doctor", "--client", "--json"], {
    env: { ...env, ...more },
  });
  const { checks } = JSON.parse(stdout) as { checks: Checked[] };
  return { code, found: new Map(checks.map((one) => [one.check, one])) };
}

test("all that an application needs is there, and neither database nor account is asked for", async () => {
  const { code, found } = await examined();
  const states = Object.fromEntries([...found].map(([name, { state }]) => [name, state]));
  expect(states).toEqual({
    ...{ node: "ok", environment: "skip" },
    ...{ "key ring codec": "ok", "key ring codecWrite": "skip", "key ring secretsPublic": "skip" },
    ...{ "key operator": "skip", "document store": "skip" },
    ...{ temporal: "ok", namespace: "ok", "search attributes": "ok", "open processes": "ok" },
    "certificate of Temporal": "skip",
  });
  expect(code).toBe(0);
});

test.each([
  [
    "a key of the workers is missing",
    { TRUSTFLOW_KEYS__CODEC: generateKeyRing("k2") },
    ["open processes", "codecKeyMissing", 'no key "k1"'],
  ],
  [
    "another key stands under its id",
    { TRUSTFLOW_KEYS__CODEC: generateKeyRing("k1") },
    ["open processes", "codecKeyWrong", "does not belong to this key"],
  ],
  [
    "the namespace lacks the search attributes",
    { TEMPORAL_NAMESPACE: empty },
    ["search attributes", "searchAttributesMissing", "TrustflowPhase"],
  ],
] as const)("%s", async (_, more, [check, finding, detail = ""]) => {
  const { code, found } = await examined({ ...more });
  const said = { finding, state: "fail", detail: expect.stringContaining(detail) };
  expect(found.get(check)).toMatchObject(said);
  expect(code).toBe(4);
});

test("an older key stands behind the present one", async () => {
  const { found } = await examined({ TRUSTFLOW_KEYS__CODEC: `${generateKeyRing("k2")},${ring}` });
  expect(found.get("open processes")?.state).toBe("ok");
});

test("one that may only read has the reading key alone", async () => {
  const { code, found } = await examined({
    TRUSTFLOW_KEYS__CODEC: "",
    TRUSTFLOW_KEYS__CODEC_READ: ring,
  });
  expect(found.get("key ring codecRead")?.state).toBe("ok");
  expect(found.get("open processes")?.state).toBe("ok");
  expect(code).toBe(0);
});
