// The rotation of a key ring as docs/operations/keys.md says: the new key is read everywhere before it is used. The old one stays.
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { publicRingOf } from "../../src/crypto/sealed-box.js";
import { setTimeout as delay } from "node:timers/promises";
import { addressOf, closedEvent, post } from "./callbacks.js";
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
  const oldAddress = ring === "CALLBACK" ? anyAddress(stage) : undefined;
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

/** Of any process. */
function anyAddress(stage: Stage): string | undefined {
  const { everyRun } = stage.system.temporal;
  return everyRun.length === 0 ? undefined : addressOf(stage, stage.random.pick(everyRun).id);
}

/** The old address is still taken, once the receiver can be reached. */
async function report(stage: Stage, url: string): Promise<void> {
  const { world, checks } = stage;
  const body = closedEvent(`rotated-${world.now}`);
  checks.count("oldKeys");
  for (;;) {
    const answer = await post(stage, "caller", url, body);
    if (answer?.ok) return;
    if (answer && answer.status < 500 && answer.status !== 429)
      return checks.violate("oldKeys", `a callback to an old address got ${answer.status}`);
    await delay(5 * MINUTE_MS);
  }
}
