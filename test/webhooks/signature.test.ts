// Receivers verify with the libraries of Standard Webhooks, while a secret changes too.
import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { keyOf, newSecret, signedHeaders } from "../../src/webhooks/signature.js";
import { describeWith } from "../harness/programs.js";
import { temporaryFolder } from "../harness/temporary.js";

const [before, after, another] = [newSecret(), newSecret(), newSecret()];
const body = '{"type":"process.ended","data":{"id":"é"}}';
const keys = (...secrets: string[]) => secrets.flatMap((secret) => keyOf(secret) ?? []);
const headers = signedHeaders(keys(after, before), "evt_1", body);

/** Whether a receiver with this secret takes it. */
function takes(secret: string, said = body, given = headers): boolean {
  try {
    return new Webhook(secret).verify(said, given) !== undefined;
  } catch {
    return false;
  }
}

test("a receiver with the secret before or after a change takes it, and no other one", () => {
  expect([before, after, another].map((secret) => takes(secret))).toEqual([true, true, false]);
  expect(takes(after, body, signedHeaders(keys(before), "evt_1", body))).toBe(false);
});

test("a changed body, id or time is not taken", () => {
  expect(takes(after, body.replace("ended", "begun"))).toBe(false);
  expect(takes(after, body, { ...headers, "webhook-id": "evt_2" })).toBe(false);
  const old = signedHeaders(keys(after), "evt_1", body, new Date(Date.now() - 600_000));
  expect(takes(after, body, old)).toBe(false);
});

test.each([
  ["whsec_" + Buffer.alloc(23).toString("base64"), "too short"],
  ["whsec_" + Buffer.alloc(65).toString("base64"), "too long"],
  ["whsec_not base64 but long enough for the key!", "no base64"],
  [Buffer.alloc(32).toString("base64"), "without its prefix"],
])("%s is no secret: %s", (secret) => {
  expect(keyOf(secret)).toBeUndefined();
});

const folder = await temporaryFolder();
const pip = "-m pip install --quiet --no-deps --disable-pip-version-check --retries 0 --timeout 10";
const isInstalled = [
  ["-c", "import standardwebhooks"],
  [...pip.split(" "), "--target", folder, "standardwebhooks==1.1.0"],
].some((args) => spawnSync("python3", args).status === 0);

describeWith(
  "python3 with pip",
  "a receiver in Python",
  () => {
    const program = `import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
given = json.load(sys.stdin)
def takes(secret):
    try:
        return Webhook(secret).verify(given["body"], given["headers"]) is not None
    except WebhookVerificationError:
        return False
print(json.dumps([takes(secret) for secret in given["secrets"]]))`;

    test("takes it with the secret before or after a change, and with no other one", () => {
      const input = JSON.stringify({ body, headers, secrets: [before, after, another] });
      const env = { ...process.env, PYTHONPATH: folder };
      const printed = execFileSync("python3", ["-c", program], { input, env, encoding: "utf8" });
      expect(JSON.parse(printed)).toEqual([true, true, false]);
    });
  },
  { isInstalled },
);
