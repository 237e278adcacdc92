// A relay with the real parsers and the keys of the workers, for events that carry secrets. The file that asks for it has its own database.
import type { RelayOptions } from "../../../src/callbacks/relay/relay.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { callbackParsers } from "../../../src/providers/callbacks.js";
import { SecretSealer, WorkerSecrets } from "../../../src/temporal/codec/secrets.js";
import { relayStand } from "./relay-stand.js";

/** As a JWT. */
export const TOKEN = "head.token-of-the-call.mark";

const ofProvider = await callbackParsers({ accounts: {} });

/** `usual`: of each relay that the file starts. */
export function secretsStand(usual: Partial<RelayOptions>) {
  const box = generateBoxRing("secrets");
  const sealer = new SecretSealer(KeyRing.parse(box.publicRing));
  const stand = relayStand({
    ...ofProvider,
    sealSecret: (secret, processKey) => sealer.seal(secret, processKey),
    ...{ leaseMs: 1_000, signalTimeoutMs: 300 },
    ...usual,
  });
  return { ...stand, sealer, secrets: new WorkerSecrets(KeyRing.parse(box.privateRing)) };
}
