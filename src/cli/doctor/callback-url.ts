// Checks that the public URL leads to our receiver: only the receiver refuses a forged address (404), and accepts a genuine
// one until it finds that the body is not JSON (400). It stores nothing. Each key is tried: one that the receiver lacks shows before a
// worker issues addresses with it.
import { lookup } from "node:dns/promises";
import { callbackPath, callbackUrl } from "../../callbacks/address.js";
import type { Config } from "../../config/config.js";
import { CALL_MS, Problem, ring, setting } from "./check.js";

const BUSY = 503;

export async function publicUrl(config: Config): Promise<string> {
  const url = setting(config.callbacks.publicUrl, "callbacks.publicUrl");
  const { origin, protocol, hostname } = new URL(url);
  if (config.environment !== "sandbox") {
    if (protocol !== "https:")
      throw new Problem("callbackUrlNotHttps", `${origin} is not encrypted`);
    if (await isLoopback(hostname))
      throw new Problem("callbackUrlLoopback", `${origin} is reachable from this machine only`);
  }
  const subject = { provider: "evi-post", namespace: "doctor", workflowId: "doctor" };
  const rings = ring(config, "callback").alone;
  const addresses = rings.map((one) => callbackUrl(one, url, subject));
  const forged = addresses[0]?.replace(/\/[^/]*$/, "/forged") ?? url;
  const answers = await Promise.all([forged, ...addresses].map((one) => post(one, origin)));
  if (answers.includes(BUSY))
    throw new Problem("notChecked", `not checked: ${origin} answers 503; try again`);
  const [toForged, ...toGenuine] = answers;
  const wrong = toGenuine.findIndex((status) => status !== 400);
  if (toForged === 404 && wrong < 0)
    return `our receiver answers at ${origin}${config.environment === "sandbox" ? "; the sandbox does not need https" : ""}`;
  throw new Problem(
    "notOurReceiver",
    `${origin}${callbackPath} answers ${toForged} to a forged address and ${toGenuine.at(wrong)} to a genuine one of the key ${rings.at(wrong)?.active.id}; expected 404 and 400`,
  );
}

async function post(url: string, origin: string): Promise<number> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      body: "not JSON",
      redirect: "manual",
      signal: AbortSignal.timeout(CALL_MS),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: string } };
    throw new Problem("receiverAway", `cannot reach ${origin} from here: ${cause?.code ?? name}`);
  }
}

async function isLoopback(hostname: string): Promise<boolean> {
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
  return addresses.some(({ address }) => /^(127\.|0\.0\.0\.0$|::1?$)/.test(address));
}
