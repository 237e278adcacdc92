import { beforeAll, expect, test } from "vitest";
import { keyOf, newSecret } from "../../../src/webhooks/signature.js";
import { startWebhooks } from "../../../src/webhooks/webhooks.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { ofFile } from "../../harness/of-file.js";
import { commandLine } from "../in-process.js";

const database = ofFile(testDatabase);
beforeAll(async () => {
  await database.pool.query(
    `insert into trustflow.webhook_deliveries (namespace, endpoint, state)
     values ('default', 'billing', 'failed'), ('default', 'billing', 'failed'), ('other', 'billing', 'failed')`,
  );
});

const webhooks = (args: string[], env = {}) =>
  commandLine(["webhooks", ...args], { env: { DATABASE_URL: database.url, ...env } });
const replay = (args: string[], env = {}) => webhooks(["replay", ...args], env);
const configured = {
  TRUSTFLOW_WEBHOOKS__BILLING__URL: "https://billing.example",
  TRUSTFLOW_WEBHOOKS__BILLING__SECRET: newSecret(),
};

test("replay --failed knows its endpoint, and says how many are sent again", async () => {
  expect(await replay(["--failed", "bilings"], configured)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("webhooks.bilings is not configured"),
  });
  expect(await replay(["--failed", "billing"], configured)).toMatchObject({
    code: 0,
    stdout: "1  replayed\n2  replayed\n2 replayed\n",
  });
  // An operator's configuration may have no endpoint.
  expect(await replay(["--failed", "bilings"])).toMatchObject({ code: 0, stdout: "0 replayed\n" });
});

test("replay takes a number with zeros before it, and none of another namespace", async () => {
  await database.pool.query("update trustflow.webhook_deliveries set state = 'failed'");
  expect(await replay(["01"])).toMatchObject({ code: 0, stdout: "1  replayed\n" });
  const { code, stdout } = await replay(["2", "3"]);
  expect([code, stdout]).toEqual([
    1,
    "2  replayed\n3  not replayed: it still waits, or is unknown\n",
  ]);
});

test("a host at a private address is named, with the setting that allows it, and nothing else of the endpoint", async () => {
  const secret = newSecret();
  const endpoint = {
    ...{ name: "internal", url: "http://localhost:1/hook?token=t0ken", allowPrivate: false },
    ...{ keys: [keyOf(secret)!], events: [] },
  };
  const relay = startWebhooks({
    ...{ pool: database.pool, namespace: "default", endpoints: [endpoint], lookMs: 60_000 },
    looksFrom: ({ position }) => ({ position, look: async function* () {} }),
    mayLook: async () => false,
    sendMs: 50,
    logger: { info: () => undefined, warn: () => undefined },
  });
  const tested = await webhooks(["test", "internal"]);
  await relay.close();
  const refused = "privateAddress localhost \\((127\\.0\\.0\\.1|::1)(, 127\\.0\\.0\\.1)?\\)";
  const advice = "; with webhooks.internal.allowPrivate = true the relay goes there";
  expect(tested.code).toBe(1);
  expect(tested.stdout).toMatch(new RegExp(`^delivery +\\d+\nresult +${refused}${advice}\n$`));
  const [id = ""] = /\d+/.exec(tested.stdout) ?? [];
  const shown = await webhooks(["show", id]);
  expect(shown.stdout).toMatch(new RegExp(refused + advice));
  const listed = await webhooks(["list", "--endpoint", "internal"]);
  expect(listed.stdout).toMatch(new RegExp(`  ${refused}\n`));
  for (const { stdout } of [tested, shown, listed]) expect(stdout).not.toMatch(/t0ken|whsec/);
});
