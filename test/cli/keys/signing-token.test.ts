// `keys signing-token`: the provider's token goes into a private file and nowhere else, and is asked for once (P1 §1.4, §5.4).
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { commandLine } from "../in-process.js";
import { temporaryFolder } from "../../harness/temporary.js";
import { ofFile } from "../../harness/of-file.js";

const folder = await temporaryFolder();
const accountEnv = (token: string) => ({
  TRUSTFLOW_ENVIRONMENT: "sandbox",
  TRUSTFLOW_ACCOUNTS__DEFAULT__ONE_SHOT_SIGNATURE__BASE_URL: sandbox.url,
  TRUSTFLOW_ACCOUNTS__DEFAULT__ONE_SHOT_SIGNATURE__TOKEN: token,
});

const sandbox = ofFile(startSandbox);

const make = (out: string, token = "sandbox-token", ...more: string[]) =>
  commandLine(["keys", "signing-token", "--out", out, ...more], {
    env: accountEnv(token),
    cwd: folder,
  });

async function made(): Promise<number> {
  const { total } = await sandboxControl(sandbox.url).requests();
  const byStatus = Object.values(total["one-shot-signature.createToken"] ?? {});
  return byStatus.reduce((sum, one) => sum + one, 0);
}

test("the token is in the file alone, only its owner can read it, and it opens the account", async () => {
  const said = await make("first.token");
  expect(said).toEqual({
    code: 0,
    stdout: "",
    stderr: "first.token is written; only you can read it\n",
  });
  const file = join(folder, "first.token");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const token = (await readFile(file, "utf8")).trim();
  const json = await make("second.token", token, "--json");
  expect(JSON.parse(json.stdout)).toEqual({ file: "second.token" });
  expect(json.stdout + json.stderr).not.toContain(token);
});

test("a file that exists is kept, and no token is made for it", async () => {
  const before = await made();
  await writeFile(join(folder, "kept.token"), "mine");
  const { code, stderr } = await make("kept.token");
  expect([code, stderr]).toEqual([2, expect.stringContaining("--out: the file exists already")]);
  expect(await readFile(join(folder, "kept.token"), "utf8")).toBe("mine");
  expect(await made()).toBe(before);
});

test("a lost answer is told, not repeated, and leaves no file", async () => {
  const fault = { operation: "one-shot-signature.createToken", kind: "cut-after-commit" } as const;
  sandbox.faults.add(fault);
  const before = await made();
  const { code, stderr } = await make("lost.token");
  expect(code).toBe(1);
  expect(stderr).toContain("The service may have made a token that nobody has seen");
  expect(await made()).toBe(before + 1);
  await expect(stat(join(folder, "lost.token"))).rejects.toThrow("ENOENT");
});

test("a token that the service refuses is not repeated in the message", async () => {
  const { code, stderr } = await make("refused.token", "a-wrong-token");
  expect(code).toBe(4);
  expect(stderr).toContain("401");
  expect(stderr).not.toContain("a-wrong-token");
});
