// Trustflow's own services in docker-compose.yml: what they run exists, and what they are told is understood.
import { describe, expect, test } from "vitest";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { credentialsInClear } from "../../src/config/clear-text.js";
import { endpointsOf } from "../../src/roles/webhooks.js";
import { newSecret } from "../../src/webhooks/signature.js";
import { writeSecretFiles } from "../../src/cli/keys/secret-files.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { commandLine } from "../cli/in-process.js";
import { configurationOf } from "../harness/configuration.js";
import { interpolate, root, roles, textOf, withWebhooks } from "./compose-file.js";
import { temporaryFolder } from "../harness/temporary.js";

const dummies: Record<string, string> = {
  TRUSTFLOW_ENVIRONMENT: "preproduction",
  TRUSTFLOW_CALLBACKS__PUBLIC_URL: "https://callbacks.example.test",
  TRUSTFLOW_CODEC_SERVER__CORS_ORIGINS: "http://localhost:8233",
};

const folder = await temporaryFolder();
await writeSecretFiles(folder, generateKeyRing);

async function sandboxHelp(): Promise<string> {
  const program = join(root, "packages", "sandbox", "dist", "cli.js");
  return (await promisify(execFile)(process.execPath, [program, "--help"])).stdout;
}

describe.each(roles)("the service %s", (_name, service) => {
  test("runs a command that the CLI has, with options that it takes", async () => {
    const { entrypoint = [], command = [], image } = service;
    const isSandbox = image === "trustflow-sandbox:local";
    const looped = /\btrustflow[ ,]([a-z-]+)/.exec(entrypoint.join(" "))?.slice(1) ?? [];
    const [name, ...args] = [...(isSandbox ? ["trustflow-sandbox"] : looped), ...command];
    const help = isSandbox
      ? await sandboxHelp()
      : (await commandLine([name ?? "", "--help"])).stdout;
    expect(help).toContain(`Usage: ${isSandbox ? "" : "trustflow "}${name}`);
    for (const option of args.filter((arg) => arg.startsWith("--"))) expect(help).toContain(option);
  });

  test("has an environment that the configuration accepts", async () => {
    const given = Object.entries(service.environment ?? {}).flatMap(
      ([key, value]): [string, string][] =>
        value === null ? [] : [[key, interpolate(value, dummies).replace("/run/secrets", folder)]],
    );
    const { keys, database } = configurationOf(Object.fromEntries(given));
    for (const ring of Object.values(keys)) if (ring) KeyRing.parse(ring.reveal());
    expect(database.password?.reveal() === undefined).toBe(database.url === undefined);
    const others = given.map(([key]) => key).filter((key) => !key.startsWith("TRUSTFLOW_"));
    for (const key of others) {
      expect(["DATABASE_URL", "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE"]).toContain(key);
    }
  });

  test("has a health check at the port where it listens", () => {
    const url = /http:\/\/127\.0\.0\.1:(\d+)\//.exec(service.healthcheck?.test.join(" ") ?? "");
    if (!url) return;
    const told = [...(service.command ?? []), ...Object.values(service.environment ?? {})];
    expect(told).toContain(url[1]);
  });
});

test("the override of the webhooks' page is an endpoint that the relay's configuration accepts", async () => {
  const { environment = {} } = withWebhooks.services["relay"] ?? {};
  await writeFile(join(folder, "webhook_billing"), `${newSecret()}\n`);
  const given = Object.entries(environment).map(([name, value]) => [
    name,
    value?.replace("/run/secrets", folder),
  ]);
  const config = configurationOf(Object.fromEntries(given));
  expect(credentialsInClear({ ...config, environment: "production" })).toEqual([]);
  expect(endpointsOf(config.webhooks)).toMatchObject([
    { name: "billing", keys: [expect.any(Buffer)], allowPrivate: false },
  ]);
});

describe("the Dockerfile", () => {
  const text = textOf("Dockerfile");
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = ""]) =>
    from.split(" "),
  );

  test("copies files that exist and that .dockerignore allows", () => {
    const letThrough = textOf(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    const folders = copied.filter((path) => !path.startsWith("packages/"));
    expect(new Set(folders)).toEqual(new Set(letThrough));
    for (const path of copied) expect(existsSync(join(root, path))).toBe(true);
  });

  test("runs as another user than root", () => {
    expect(text).toMatch(/\nUSER node\nENTRYPOINT/);
  });

  test("has the folders that volumes cover", () => {
    const targets = roles.flatMap(([, { volumes = [] }]) =>
      volumes
        .filter((volume) => !volume.startsWith("./secrets"))
        .map((volume) => volume.split(":")[1] ?? ""),
    );
    for (const target of targets) expect(text).toContain(target);
  });
});
