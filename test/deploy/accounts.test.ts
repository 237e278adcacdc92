// The accounts of a deployment: the files that the roles read them from, and those of the sandbox against a sandbox that
// runs as docker-compose.yml says.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { doctor } from "../cli/doctor/doctor.js";
import { readyLine, start } from "../cli/run.js";
import { configurationOf } from "../harness/configuration.js";
import { compose, interpolate, linesOf, services } from "./compose-file.js";
import { temporaryFolder } from "../harness/temporary.js";

const ofSandbox = "deploy/sandbox/accounts.env";
const inContainer = "/var/lib/trustflow/sandbox";

const variablesOf = (lines: readonly string[]) =>
  Object.fromEntries(
    lines.map((line): [string, string] => {
      const [name = "", value = ""] = line.split(/=(.*)/);
      return [name, value];
    }),
  );
const accountsWith = (lines: readonly string[]) => configurationOf(variablesOf(lines)).accounts;

test("worker, cli and erase alone read the accounts, from a file, and worker and cli see their secrets", () => {
  for (const [name, { env_file: [file = ""] = [], volumes = [] }] of services) {
    const isGiven = ["worker", "cli", "erase"].includes(name);
    expect([name, interpolate(file, {})]).toEqual([name, isGiven ? "accounts.env" : ""]);
    const secrets = volumes.includes("./secrets/accounts:/run/secrets/accounts:ro");
    expect([name, secrets]).toEqual([name, isGiven && name !== "erase"]);
    if (isGiven) expect(interpolate(file, { ACCOUNTS_FILE: ofSandbox })).toBe(ofSandbox);
  }
});

test("accounts.env.example configures nothing while it is empty, and each of its variables is a key", () => {
  const lines = linesOf("accounts.env.example");
  expect(accountsWith(lines)).toEqual({});
  const filled = lines.map((line) =>
    line.endsWith("_URL=") ? `${line}https://a.example` : `${line}1`,
  );
  const known = Object.keys(accountsWith(linesOf(ofSandbox))["default"] ?? {});
  expect(Object.keys(accountsWith(filled)["default"] ?? {})).toEqual(known);
});

test("a client certificate's folder is mounted where workers and the doctor read it, not to be changed", () => {
  for (const name of ["worker", "cli"]) {
    const { volumes } = compose.services[name] ?? {};
    expect(volumes).toContain("./certificates:/etc/trustflow/certificates:ro");
    expect(volumes).toContain(`sandbox:${inContainer}:ro`);
  }
  expect(compose.services["sandbox"]?.volumes).toContain(`sandbox:${inContainer}`);
});

test("the sandbox's accounts work: doctor finds each provider, mutual TLS and all", async () => {
  const folder = await temporaryFolder();
  const service = compose.services["sandbox"];
  const args = service?.command ?? [];
  const port = args[args.indexOf("--port") + 1] ?? "";
  expect(service?.ports).toContain(`127.0.0.1:${Number(port) + 1}:${Number(port) + 1}`);
  const here = args.map((arg) =>
    arg === port ? "0" : arg.replace("0.0.0.0", "127.0.0.1").replace(inContainer, folder),
  );
  const role = start(["sandbox", ...here]);
  try {
    const ready = await readyLine(role);
    const { url, tlsUrl } = ready as unknown as { url: string; tlsUrl: string };
    const moved = linesOf(ofSandbox).map((line) =>
      line
        .replace(`https://sandbox:${Number(port) + 1}`, tlsUrl)
        .replace(`http://sandbox:${port}`, url)
        .replace(inContainer, folder),
    );
    const { checks } = await doctor({
      ...variablesOf(moved),
      TRUSTFLOW_ENVIRONMENT: "sandbox",
    });
    const asked = checks.filter(({ check }) => /^(account|client certificate) /.test(check));
    expect(asked.map(({ check, state }) => [check, state])).toEqual([
      ["account default evi-post", "ok"],
      ["account default evi-notice", "ok"],
      ["account default disposable-certificate", "ok"],
      ["client certificate default disposable-certificate", "ok"],
      ["account default messaging-gateway", "ok"],
      ["account default one-shot-signature", "ok"],
      ["account default envelope-signature", "ok"],
      ["client certificate default envelope-signature", "ok"],
      ["account default credential-wallet", "ok"],
      ["account default video-identification", "ok"],
    ]);
    const shown = new X509Certificate(await readFile(join(folder, "pki", "server.pem")));
    expect(shown.checkHost("sandbox")).toBe("sandbox");
  } finally {
    role.kill("SIGTERM");
    await once(role, "close");
  }
});
