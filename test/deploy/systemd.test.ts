// The systemd units say of each role what docker-compose.yml with TLS says, and systemd reads them.
import { execFileSync } from "node:child_process";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWith } from "../harness/programs.js";
import { temporaryFolder } from "../harness/temporary.js";
import { compose, root, secretsOf, textOf, withTls } from "./compose-file.js";

const folder = "deploy/systemd";
const roles = ["worker", "receiver", "relay", "codec-server", "cleanup", "migrate", "cli", "erase"];

/** The values of a key in the drop-in of a role. */
function linesOf(role: string, key: string): string[] {
  const text = textOf(`${folder}/trustflow@${role}.service.d/role.conf`);
  return [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
}

/** Here PostgreSQL and whoever calls a role are on the same host. */
const local = (value: string) =>
  value
    .replace("/run/secrets", "%d")
    .replace("@postgres:", "@localhost:")
    .replace(/^0\.0\.0\.0$/, "127.0.0.1");

test.each(roles)("%s is as in docker-compose.yml", (role) => {
  const [service, tls] = [compose.services[role], withTls.services[role]];
  // What has a variable there stands in the file of settings here.
  const fixed = Object.entries({ ...service?.environment, ...tls?.environment }).filter(
    ([key, value]) =>
      !/CLEAR_TEXT|TEMPORAL_ADDRESS/.test(key) && value !== null && !value.startsWith("${"),
  );
  expect(new Set(linesOf(role, "Environment"))).toEqual(
    new Set(fixed.map(([key, value]) => `${key}=${local(value ?? "")}`)),
  );
  const accounts = service?.env_file ? ["accounts:/etc/trustflow/secrets/accounts"] : [];
  const credentials = [service, tls]
    .flatMap(secretsOf)
    .map(({ target, file }) => `${target}:${file.replace("./", "/etc/trustflow/")}`);
  expect(new Set(linesOf(role, "LoadCredential"))).toEqual(new Set([...accounts, ...credentials]));
  const [memory = "1G"] = linesOf(role, "MemoryMax");
  expect(memory.toLowerCase()).toBe(service?.mem_limit);
});

describeWith("systemd-analyze", "systemd reads the units", () => {
  test.each([...roles, "repair"])("trustflow@%s.service", async (role) => {
    const units = join(await temporaryFolder(), "units");
    await cp(join(root, folder), units, { recursive: true, verbatimSymlinks: true });
    // A program that is there: systemd looks for it.
    for (const path of await readdir(units, { recursive: true })) {
      if (!/\.(service|conf)$/.test(path)) continue;
      const text = await readFile(join(units, path), "utf8");
      await writeFile(join(units, path), text.replaceAll("/usr/local/bin/trustflow", "/bin/true"));
    }
    const unit = `trustflow@${role}.service`;
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${units}:` };
    const analyze = (...args: string[]) =>
      execFileSync("systemd-analyze", args, { cwd: units, env, encoding: "utf8", stdio: "pipe" });
    expect(analyze("verify", "--man=no", unit)).toBe("");
    // From 0, safe, to 10.
    analyze("security", "--no-pager", "--offline=true", "--threshold=20", unit);
  });
});
