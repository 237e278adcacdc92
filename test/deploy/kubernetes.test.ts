// The Kubernetes manifests fit the types that Kubernetes publishes, and say of each role what docker-compose.yml with TLS says.
import { spawnSync } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { temporaryFolder } from "../harness/temporary.js";
import { compose, exampleLines, root, roles, secretsOf, textOf, withTls } from "./compose-file.js";

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { configMapKeyRef: { name: string; key: string } };
}

interface Container {
  command?: string[];
  args?: string[];
  env: Variable[];
  envFrom?: object[];
  ports?: { name: string; containerPort: number }[];
  resources: { limits: { memory: string } };
  volumeMounts: { name: string; mountPath: string }[];
}

interface Pod {
  containers: [Container];
  terminationGracePeriodSeconds: number;
  volumes: { name: string; secret?: { items?: { key: string; path: string }[] } }[];
}

interface Template {
  metadata: { labels: Record<string, string> };
  spec: Pod;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: { template?: Template; jobTemplate?: { spec: { template: Template } } };
}

const manifestsOf = (file: string): Manifest[] =>
  (parse(textOf(`deploy/kubernetes/${file}`), { merge: true }) as { items: Manifest[] }).items;

const manifests = manifestsOf("trustflow.yaml");
const all = [...manifests, ...manifestsOf("network-policies.yaml"), ...manifestsOf("keda.yaml")];

/** What the compiler says of each file: the packages have Kubernetes' schemas as types, which refuse unknown keys too. */
async function misfitsOf(files: Record<string, Manifest[]>): Promise<string[]> {
  const folder = await temporaryFolder();
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [name, objects] of Object.entries(files)) {
    const texts = objects.map((object, index) => {
      const { apiVersion, kind } = object;
      const from = apiVersion.startsWith("keda.sh/")
        ? `@kubernetes-models/keda/${apiVersion}`
        : `kubernetes-models/${apiVersion}`;
      const text = JSON.stringify(object, undefined, 1);
      return `import type { I${kind} as T${index} } from "${from}";\nexport const o${index}: T${index} = ${text};\n`;
    });
    await writeFile(join(folder, `${name}.ts`), texts.join(""));
  }
  const sources = Object.keys(files).map((name) => `${name}.ts`);
  const options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext"];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, ...sources], {
    cwd: folder,
    encoding: "utf8",
  });
  return stdout.split("\n").filter((line) => /^\S/.test(line));
}

test("they fit Kubernetes' and KEDA's types; an unknown key and a value of another type do not", async () => {
  const budget = (spec: object): Manifest[] => [
    { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "x" }, spec },
  ];
  const misfits = await misfitsOf({
    all,
    unknown: budget({ maxAvailable: 1 }),
    wrong: budget({ minAvailable: true }),
  });
  expect(misfits.toSorted()).toEqual([
    expect.stringMatching(/^unknown\.ts.* does not exist/),
    expect.stringMatching(/^wrong\.ts.*'true' is not assignable/),
  ]);
});

const templateOf = (name: string): Template | undefined => {
  const found = manifests.find(
    ({ metadata, spec }) =>
      metadata.name === name && Object.keys(spec).some((key) => key.endsWith("emplate")),
  );
  return found?.spec.template ?? found?.spec.jobTemplate?.spec.template;
};

// The simulated providers are no deployment's, and the others are PostgreSQL, Temporal and its Web UI.
const served = roles.filter(([name]) => name !== "sandbox");

test("they have the roles of docker-compose.yml, with the repair as a job of its own", () => {
  const names = manifests
    .filter(({ spec }) => spec.template ?? spec.jobTemplate)
    .map(({ metadata }) => metadata.name);
  expect(new Set(names)).toEqual(new Set([...served.map(([name]) => name), "repair"]));
});

/** In a cluster others ask for health and metrics too, and PostgreSQL is another host. */
const ofCluster = /^(DATABASE_HOST|TEMPORAL_RETENTION_DAYS|\w+__(METRICS_ADDRESS|HEALTH_HOST))$/;

/** A variable, or its value. */
function composed([name, value]: [string, string | null]): [string, string] {
  if (name === "DATABASE_URL") return [name, value?.split("@")[0] ?? ""];
  if (name === "TEMPORAL_ADDRESS") return [name, "${TEMPORAL_ADDRESS}"];
  return [name, value?.replace(/^\$\{(\w+).*\}$/, "${$1}") ?? ""];
}

function manifested({ name, value, valueFrom }: Variable): [string, string] {
  if (name === "DATABASE_URL") return [name, value?.split("@")[0] ?? ""];
  return [name, value ?? `\${${valueFrom?.configMapKeyRef.key}}`];
}

test.each(served)("%s is as in docker-compose.yml", (name, service) => {
  const template = templateOf(name);
  const { containers = [], volumes = [], terminationGracePeriodSeconds } = template?.spec ?? {};
  const [container] = containers as [Container];
  const withoutTls = /^TRUSTFLOW_CLEAR_TEXT__HOSTS$/;
  const environment = Object.entries({
    ...service.environment,
    ...withTls.services[name]?.environment,
  }).filter(([key, value]) => value !== null && !withoutTls.test(key));
  expect(
    Object.fromEntries(container.env.filter((one) => !ofCluster.test(one.name)).map(manifested)),
  ).toEqual(Object.fromEntries(environment.map(composed)));

  const items = volumes.flatMap(({ secret }) => secret?.items ?? []);
  const given = items.map(({ key, path }) => `${key} at ${path}`);
  const needed = [service, withTls.services[name]]
    .flatMap(secretsOf)
    .map(({ target, file }) => `${basename(file)} at ${target}`);
  const ofDatabase = name === "codec-server" ? [] : ["database_ca at database_ca"];
  expect(new Set(given)).toEqual(new Set([...needed, ...ofDatabase]));

  const health = /127\.0\.0\.1:(\d+)/.exec(service.healthcheck?.test.join(" ") ?? "")?.[1];
  const port = container.ports?.find((one) => one.name === "health")?.containerPort;
  expect(port).toBe(health === undefined ? undefined : Number(health));
  expect(container.resources.limits.memory.replace("Gi", "g")).toBe(service.mem_limit);
  expect(container.envFrom !== undefined).toBe(service.env_file !== undefined);
  expect(terminationGracePeriodSeconds).toBe(60);

  const mounted = (service.volumes ?? [])
    .map((volume) => volume.split(":")[1])
    .filter((path) => path !== "/work" && !path?.endsWith("/sandbox"))
    // A folder cannot lie in the folder of another secret.
    .map((path) => path?.replace("/run/secrets", "/etc/trustflow"));
  const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
  expect(new Set(mounts)).toEqual(new Set(["/tmp", "/run/secrets", ...mounted]));

  const reaches = (...networks: string[]) =>
    networks.some((network) => service.networks.includes(network));
  const wanted = {
    "trustflow/database": reaches("database", "inbox"),
    "trustflow/temporal": reaches("temporal"),
    "trustflow/internet": reaches("providers"),
  };
  const labels = template?.metadata.labels ?? {};
  for (const [label, isSet] of Object.entries(wanted))
    expect([label, labels[label]]).toEqual([label, isSet ? "yes" : undefined]);
});

test("each runs its command", () => {
  for (const name of ["worker", "receiver", "relay", "codec-server"])
    expect(templateOf(name)?.spec.containers[0].args).toEqual(compose.services[name]?.command);
  const argsOf = (name: string) => templateOf(name)?.spec.containers[0].args?.slice(0, 2);
  expect(argsOf("migrate")).toEqual(compose.services["migrate"]?.command?.slice(0, 2));
  expect([argsOf("cleanup"), argsOf("repair")]).toEqual([
    ["cleanup"],
    ["cleanup", "--repair-only"],
  ]);
});

test("what they take of the settings stands in .env.example, but for the two hosts", () => {
  const known = exampleLines.map((line) => line.replace("=", ""));
  const taken = manifests.flatMap(({ metadata }) =>
    (templateOf(metadata.name)?.spec.containers[0].env ?? []).flatMap(
      ({ valueFrom }) => valueFrom?.configMapKeyRef.key ?? [],
    ),
  );
  const others = taken.filter((key) => !known.includes(key));
  expect(new Set(others)).toEqual(new Set(["DATABASE_HOST", "TEMPORAL_ADDRESS"]));
});
