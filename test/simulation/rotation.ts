// The rotation of a key ring as docs/operations/keys.md says: the new key is read everywhere before it is used. The old one stays.
import { callbackUrl } from "../../src/callbacks/address.js";
import { splitWorkflowId } from "../../src/contracts/shared/names.js";
import { contractOf } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { publicRingOf } from "../../src/crypto/sealed-box.js";
import { setTimeout as delay } from "node:timers/promises";
import type { Stage } from "./stage.js";
import type { RoleName } from "./system.js";

const rings = ["CODEC", "CODEC_WRITE", "SECRETS", "CALLBACK", "JOURNAL", "INBOX", "DOCUMENTS"];
const MINUTE_MS = 60_000;
const variableOf = (ring: string) => `TRUSTFLOW_KEYS__${ring}`;

export async function rotateKeys(stage: Stage): Promise<void> {
  const { system, checks, random, say, world } = stage;
  const ring = random.pick(rings);
  const variable = variableOf(ring);
  const set = (name: string, value: string) =>
    Object.assign(system.env, { [name]: value }) && Object.assign(process.env, { [name]: value });
  const before = system.env[variable]!;
  const added = generateKeyRing(`k${world.now}`);
  checks.addSecrets([added]);
  const oldAddress = ring === "CALLBACK" ? addressOf(stage) : undefined;
  set(variable, `${before},${added}`);
  await deploy(stage, ["worker", "relay", "receiver"]);
  set(variable, `${added},${before}`);
  await deploy(stage, ["worker", "relay"]);
  // Whoever seals with the public ring comes after those who open with the private one.
  const publicVariable = `${variable}_PUBLIC`;
  if (system.env[publicVariable])
    set(publicVariable, publicRingOf(KeyRing.parse(system.env[variable]!)));
  await deploy(stage, ["relay", "receiver"]);
  say(`operators have rotated the ring ${ring.toLowerCase()}`);
  if (oldAddress !== undefined) await report(stage, oldAddress);
}

async function deploy({ system }: Stage, names: RoleName[]): Promise<void> {
  for (const name of names) await system.roles[name].restart();
  if (names.includes("worker")) for (const second of system.seconds) await second.restart();
  await system.reconnect();
}

/** Of any process, as its provider has it. */
function addressOf({ system, random }: Stage): string | undefined {
  const { everyRun, namespace } = system.temporal;
  if (everyRun.length === 0) return undefined;
  const { id: workflowId } = random.pick(everyRun);
  const { provider } = contractOf(splitWorkflowId(workflowId)!.process as ProcessName);
  return callbackUrl(
    KeyRing.parse(system.env[variableOf("CALLBACK")]!),
    system.env["TRUSTFLOW_CALLBACKS__PUBLIC_URL"]!,
    { provider, namespace, workflowId },
  );
}

/** The old address is still taken, once the receiver can be reached. */
async function report({ world, checks }: Stage, url: string): Promise<void> {
  const body = JSON.stringify({
    Identifier: `rotated-${world.now}`,
    Kind: "Closed",
    Date: new Date().toISOString(),
  });
  const headers = { "content-type": "application/json" };
  checks.count("oldKeys");
  for (;;) {
    const answer = await world
      .program("caller")
      .run(() => fetch(url, { method: "POST", headers, body }).catch(() => undefined));
    if (answer?.ok) return;
    if (answer && answer.status < 500 && answer.status !== 429)
      return checks.violate("oldKeys", `a callback to an old address got ${answer.status}`);
    await delay(5 * MINUTE_MS);
  }
}
