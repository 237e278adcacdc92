// The deployment file, as far as it can be checked without containers.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { databaseRoles } from "../../src/postgres/roles.js";
import { writeSecretFiles } from "../../src/cli/keys/secret-files.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import {
  compose,
  exampleLines,
  linesOf,
  misfitsOf,
  services,
  textOf,
  variablesIn,
} from "./compose-file.js";
import { temporaryFolder } from "../harness/temporary.js";

const text = textOf("docker-compose.yml");
const variables = variablesIn(text.replaceAll(/^\s*#.*$/gm, ""));
const secretName = /PASSWORD|PWD|TOKEN|KEYS__/;

describe("docker-compose.yml", () => {
  test("fits the Compose schema", () => {
    expect(misfitsOf(compose)).toBeNull();
    expect(misfitsOf({ services: { worker: { imagee: "x" } } })).not.toBeNull();
  });

  test("has no secret in a variable or an environment: each is a file", () => {
    for (const { name } of variables) expect(name).not.toMatch(secretName);
    for (const [, { environment = {} }] of services) {
      for (const [name, value] of Object.entries(environment)) {
        // Taken from the person's shell.
        if (value === null) continue;
        if (secretName.test(name))
          expect([name, value]).toEqual([
            expect.stringMatching(/_FILE$/),
            expect.stringMatching(/^\/run\/secrets\/\w+$/),
          ]);
        expect(value).not.toMatch(/:\/\/[^/]*:[^/]*@/);
      }
    }
  });

  test("has the secrets that the command makes, and no other; their containers may read them", async () => {
    const folder = await temporaryFolder();
    const made = await writeSecretFiles(folder, generateKeyRing);
    expect(Object.keys(compose.secrets).toSorted()).toEqual(made.toSorted());
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      expect(file).toBe(`./secrets/${name}`);
      const { mode } = await stat(join(folder, name));
      expect([name, (mode & 0o777).toString(8)]).toEqual([name, expect.stringMatching(/^[46]44$/)]);
    }
    // A file without a login lets nobody in; it has to be there, and a person adds lines to it.
    const users = (await readFile(join(folder, "web_ui_users"), "utf8")).split("\n");
    expect(users.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
    expect((await stat(join(folder, "web_ui_users"))).mode & 0o200).toBe(0o200);
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
    expect(compose.services["temporal-schema"]?.image.split(":")[1]).toBe(release);
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

const ofDatabase = ["postgres/10-databases.sh", "postgres/20-roles.sh"];
const scriptsOf: Record<string, string[]> = {
  postgres: ofDatabase,
  "database-setup": ofDatabase,
  "temporal-schema": ["temporal/setup-schema.sh"],
  "web-ui-login": ["web-ui/Caddyfile"],
};

test("a command runs at once: it waits for no job that would run again each time", () => {
  for (const name of ["cli", "erase", "temporal-cli"])
    expect(compose.services[name]?.depends_on).toBeUndefined();
});

test("Temporal says where its parts find each other, because it has several networks", () => {
  const { environment = {}, networks } = compose.services["temporal"] ?? { networks: [] };
  expect(networks.length).toBeGreaterThan(1);
  expect(environment["TEMPORAL_BROADCAST_ADDRESS"]).toBe("127.0.0.1");
});

test("the sandbox's clock runs fast, so that a letter is delivered in seconds", () => {
  const { command = [] } = compose.services["sandbox"] ?? {};
  expect(command[command.indexOf("--speed") + 1]).toBe("auto");
});

describe.each(services)("the service %s", (name, service) => {
  const { depends_on: before = {}, restart, volumes = [], networks } = service;
  const awaited = services.some(
    ([, { depends_on: needs = {} }]) => needs[name]?.condition === "service_completed_successfully",
  );

  test("has a health check, or ends by itself", () => {
    // A job that cannot succeed ends, and so does `up --wait`.
    const oneShot = (restart === "on-failure:5" && awaited) || restart === "no";
    expect(service.healthcheck !== undefined).toBe(!oneShot);
    if (!oneShot) expect(restart).toBe("unless-stopped");
  });

  test("has limits, no privileges, and files that it cannot change", () => {
    expect(service).toMatchObject({
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
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
    const isDatabase = name === "postgres" || name === "database-setup";
    const text = [
      ...Object.values(environment),
      ...entrypoint,
      ...command,
      ...(scriptsOf[name] ?? []).map((script) => textOf(`deploy/${script}`)),
    ].join("\n");
    const places = /(?:\/run\/secrets\}?|\$secrets)\/(\w+[a-z])\b/g;
    const named = new Set([...text.matchAll(places)].map(([, secret]) => secret));
    // The script of the database roles goes through them by their names.
    const looped = isDatabase ? databaseRoles.map((role) => `database_${role}`) : [];
    expect(new Set([...named, ...looped])).toEqual(new Set(secrets));
    for (const network of networks) expect(compose.networks).toHaveProperty(network);
    for (const volume of volumes) {
      const [source = ""] = volume.split(":");
      // The folder where a person's commands read and write.
      if (volume === "./work:/work") expect([name, service.working_dir]).toEqual(["cli", "/work"]);
      else if (source.startsWith(".")) expect(volume).toMatch(/:ro$/);
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
