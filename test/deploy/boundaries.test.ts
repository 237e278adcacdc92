// The connections and secrets of each service in docker-compose.yml, and TLS for every client of Temporal.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { databaseRoles } from "../../src/postgres/roles.js";
import { parse } from "yaml";
import {
  compose,
  misfitsOf,
  root,
  services,
  textOf,
  withTls,
  withWebhooks,
} from "./compose-file.js";
import type { ComposeFile } from "./compose-file.js";

const networksOf = (name: string) => compose.services[name]?.networks ?? [];
const dynamicConfig = (name: string) => parse(textOf(`deploy/temporal/${name}`)) as object;
/** Every other service that shares a network with this one. */
const reached = (name: string) =>
  services
    .filter(
      ([other, { networks }]) =>
        other !== name && networks.some((one) => networksOf(name).includes(one)),
    )
    .map(([other]) => other)
    .toSorted();
const isInternal = (network: string) =>
  (compose.networks[network] ?? withTls.networks[network])?.internal === true;
const hasWayOut = (name: string) => networksOf(name).includes("providers");

test("Temporal is reached by its stores, the roles that it serves and the Web UI, and has no port on the host", () => {
  expect(reached("temporal")).toEqual([
    "cleanup",
    "cli",
    "erase",
    "migrate",
    "postgres",
    "relay",
    "temporal-cli",
    "temporal-schema",
    "temporal-ui",
    "worker",
  ]);
  expect(compose.services["temporal"]?.ports).toBeUndefined();
});

test("the receiver reaches PostgreSQL, and on its own side the sandbox and a command: neither Temporal nor another role", () => {
  expect(reached("receiver")).toEqual(["cli", "postgres", "sandbox"]);
  expect(compose.services["receiver"]?.environment).not.toHaveProperty("TEMPORAL_ADDRESS");
});

test("worker, cli and sandbox alone have a way out; a network with a port on the host and no way out translates nothing", () => {
  const out = services.map(([name]) => name).filter(hasWayOut);
  expect(out).toEqual(["worker", "cli", "sandbox"]);
  expect(isInternal("providers")).toBe(false);
  for (const [name, network] of Object.entries(compose.networks)) {
    if (name === "providers") continue;
    const isTranslated = !(network as { driver_opts?: object }).driver_opts;
    expect([name, network.internal === true || !isTranslated]).toEqual([name, true]);
  }
});

test.each(services)(
  "%s has one network that is not internal at most, because engines choose the way out by different rules, and one where it has a port",
  (name, { ports = [], networks }) => {
    const more = withTls.services[name]?.networks ?? [];
    const open = [...networks, ...more].filter((network) => !isInternal(network));
    expect(open.length).toBeLessThanOrEqual(1);
    if (ports.length > 0) expect(open).toHaveLength(1);
  },
);

test("the override of the webhooks' page gives the relay alone a way out, and an endpoint with its own secret", () => {
  expect(misfitsOf(withWebhooks)).toBeNull();
  const { relay, ...others } = withWebhooks.services;
  expect(others).toEqual({});
  expect(networksOf("relay").every(isInternal)).toBe(true);
  expect(withWebhooks.networks).toEqual({ webhooks: {} });
  expect(relay).toMatchObject({ networks: ["webhooks"], secrets: ["webhook_billing"] });
  expect(withWebhooks.secrets).toEqual({ webhook_billing: { file: "./secrets/webhook_billing" } });
});

test("the Web UI shows and changes nothing, and is behind a login", () => {
  expect(reached("temporal-ui")).toEqual(["temporal", "web-ui-login"]);
  expect(compose.services["temporal-ui"]?.environment).toMatchObject({
    TEMPORAL_DISABLE_WRITE_ACTIONS: "true",
  });
  expect(compose.services["temporal-ui"]?.ports).toBeUndefined();
  const browsers = services.filter(([, { networks }]) => networks.includes("browser"));
  expect(browsers.map(([name]) => name)).toEqual(["codec-server", "web-ui-login"]);
  const login = readFileSync(`${root}deploy/web-ui/Caddyfile`, "utf8");
  expect(login).toMatch(
    /:8080 \{\s+basic_auth \{\s+import \/run\/secrets\/web_ui_users\s+\}\s+reverse_proxy temporal-ui:8080\s+\}/,
  );
});

test("each service opens what its work needs", () => {
  const keys = Object.fromEntries(
    services.map(([name, { secrets = [] }]) => [
      name,
      (secrets as string[]).filter((secret) => !secret.startsWith("database_")),
    ]),
  );
  expect(keys).toEqual({
    postgres: [],
    "database-setup": [],
    "temporal-schema": [],
    temporal: [],
    "temporal-cli": [],
    migrate: [],
    worker: [
      "keys_codec",
      "keys_codec_write",
      "keys_secrets",
      "keys_callback",
      "keys_journal",
      "keys_documents",
    ],
    receiver: ["keys_callback", "keys_inbox_public"],
    relay: ["keys_codec", "keys_codec_write", "keys_callback", "keys_inbox", "keys_secrets_public"],
    "codec-server": ["keys_codec", "codec_server_token"],
    "temporal-ui": ["codec_server_token"],
    "web-ui-login": ["web_ui_users"],
    cleanup: ["keys_codec", "keys_codec_write", "keys_documents"],
    cli: [
      "keys_codec",
      "keys_codec_write",
      "keys_secrets_public",
      "keys_callback",
      "keys_journal",
      "keys_inbox",
      "keys_documents",
    ],
    erase: ["keys_codec", "keys_codec_write", "keys_documents"],
    sandbox: [],
  });
});

test("each role connects as its own database role, and migrate alone as the owner", () => {
  const users = services.flatMap(([name, { environment = {}, secrets = [] }]) => {
    const user = /^postgres:\/\/(\w+)@postgres:5432\/trustflow$/.exec(
      environment["DATABASE_URL"] ?? "",
    )?.[1];
    if (user === undefined) return [];
    const password = environment["TRUSTFLOW_DATABASE__PASSWORD__FILE"]?.replace(
      "/run/secrets/",
      "",
    );
    expect(secrets.filter((secret) => (secret as string).startsWith("database_"))).toEqual([
      password,
    ]);
    return [[name, user, password]];
  });
  expect(users).toEqual([
    ["migrate", "trustflow", "database_owner"],
    ["worker", "trustflow_worker", "database_worker"],
    ["receiver", "trustflow_receiver", "database_receiver"],
    ["relay", "trustflow_relay", "database_relay"],
    ["cleanup", "trustflow_cleanup", "database_cleanup"],
    ["cli", "trustflow_operator", "database_operator"],
    ["erase", "trustflow_cleanup", "database_cleanup"],
  ]);
  const made = readFileSync(`${root}deploy/postgres/20-roles.sh`, "utf8");
  expect(made).toContain(`for role in ${databaseRoles.join(" ")}; do`);
});

test("every client of Temporal uses TLS, each with its own certificate, and nothing of Temporal may be reached without", () => {
  expect(misfitsOf(withTls)).toBeNull();
  const served = services
    .filter(
      ([name, { networks }]) =>
        name !== "temporal" &&
        networks.some((one) => ["temporal", "temporal-web-ui"].includes(one)),
    )
    .map(([name]) => name);
  expect(Object.keys(withTls.services).toSorted()).toEqual(["temporal", ...served].toSorted());
  const sources = Object.entries(withTls.services).map(([name, { secrets = [] }]) => {
    const [certificate, key] = secrets.slice(-2);
    const own = `tls_${name === "temporal-ui" ? "web-ui" : name}`;
    const authorities = ["tls_server_ca", ...(name === "temporal" ? ["tls_client_ca"] : [])];
    expect(secrets.slice(0, -2)).toEqual(authorities);
    expect(certificate).toEqual({ source: own, target: "tls_certificate" });
    expect(key).toEqual({ source: `${own}_key`, target: "tls_key" });
    return own;
  });
  expect(Object.keys(withTls.secrets)).toEqual([
    "tls_server_ca",
    "tls_client_ca",
    ...sources.flatMap((own) => [own, `${own}_key`]),
  ]);
  expect(withTls.services["temporal"]?.environment).toMatchObject({
    TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: "true",
    DYNAMIC_CONFIG_FILE_PATH: "/etc/temporal/trustflow/dynamic-config-tls.yaml",
  });
  expect(withTls.services["temporal"]?.ports).toEqual(["127.0.0.1:7233:7233"]);
  for (const [name, { environment = {} }] of Object.entries(withTls.services))
    if (compose.services[name]?.environment?.["TRUSTFLOW_CLEAR_TEXT__HOSTS"])
      expect([name, environment["TRUSTFLOW_CLEAR_TEXT__HOSTS"]]).toEqual([name, "postgres"]);
  expect(dynamicConfig("dynamic-config-tls.yaml")).toEqual({
    ...dynamicConfig("dynamic-config.yaml"),
    "system.enableRingpopTLS": [{ value: true }],
  });
});

test("deploy/prometheus serves the metrics where its prometheus.yml reads them, in a network without a way out", () => {
  const withMetrics = parse(textOf("deploy/prometheus/compose.yml")) as ComposeFile;
  expect(misfitsOf(withMetrics)).toBeNull();
  expect(withMetrics.networks).toEqual({ metrics: { name: "trustflow-metrics", internal: true } });
  const served = Object.entries(withMetrics.services).map(
    ([name, { environment = {}, networks }]) => {
      expect(networks).toEqual(["metrics"]);
      const address = environment[`TRUSTFLOW_${name.toUpperCase()}__METRICS_ADDRESS`];
      return address?.replace("0.0.0.0", name);
    },
  );
  const { scrape_configs: read } = parse(textOf("deploy/prometheus/prometheus.yml")) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const targets = read
    .flatMap(({ static_configs }) => static_configs)
    .flatMap((one) => one.targets);
  expect([...served, "temporal:9090"]).toEqual(targets);
});
