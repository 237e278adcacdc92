// The deployment that is shipped, on a container engine, as docs/operations/install.md has it. The tests go on where the one before has
// left off. Its images are stand-ins (stand-ins/images.ts): what is pulled, and other engines, are not shown.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeWith } from "../harness/programs.js";
import { services } from "../deploy/compose-file.js";
import { textOf } from "../docs/repository.js";
import { nameOf, shellBlocks } from "../docs/shell-blocks.js";
import { CLI, Deployment, SANDBOX } from "./deployment.js";
import { openAt, reachedFrom, startOnHost, startOutside } from "./networks.js";

const LIMIT_MS = 20 * 60_000;
const { TEST_ENGINE = "" } = process.env;
const BUILD = "docker build --tag trustflow:local .";
const KEYS =
  'docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" --workdir /work trustflow:local keys generate --secrets secrets';
const UP = "docker compose up --detach --wait --wait-timeout 600";
const UP_WITH_SANDBOX = UP.replace("compose", "compose --profile sandbox");
/** Every service that runs all the time. */
const staying = services
  .filter(
    ([, { restart, profiles }]) => restart === "unless-stopped" && !profiles?.includes("tools"),
  )
  .map(([name]) => name);
/** By the table of the page: the services that each reaches, and whether it has a way out. */
const boundaries = Object.fromEntries(
  [...textOf("docs/operations/install.md").matchAll(/^\| `(\S+)` \| (`.+`) \| (yes|no) \|$/gm)].map(
    ([, service = "", reaches = "", out]) => [
      service,
      {
        reaches: [...reaches.matchAll(/[\w-]+/g)].map(([name]) => name),
        out: Number(out === "yes"),
      },
    ],
  ),
);
const onLoopback = services
  .flatMap(([, { ports = [] }]) => ports)
  .map((port) => Number(port.split(":")[1]));
const PASSWORD = "a long password of Ana";

vi.setConfig({ testTimeout: LIMIT_MS, hookTimeout: LIMIT_MS });

describeWith("a container engine", "the deployment", deployed, {
  isInstalled: TEST_ENGINE !== "",
});

function deployed(): void {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await Deployment.open(JSON.parse(TEST_ENGINE));
  });
  afterAll(() => deployment?.close());

  const fillIn = async (values: Record<string, string>) => {
    const lines = (await readFile(join(deployment.world.checkout, ".env"), "utf8")).split("\n");
    const filled = lines.map((line) => {
      const name = line.slice(0, -1);
      return line.endsWith("=") && name in values ? `${line}${values[name]}` : line;
    });
    await deployment.world.file(".env", filled.join("\n"));
  };

  test("the page leads to an image, secrets, settings and a login", async () => {
    await deployment.follow(BUILD);
    await deployment.follow(KEYS);
    await deployment.follow("install -m 600 .env.example .env");
    await deployment.follow("install -m 600 accounts.env.example accounts.env");
    await deployment.follow("install -d -m 700 work");
    await deployment.run("chown 1000 work");
    await fillIn({
      TRUSTFLOW_ENVIRONMENT: "sandbox",
      TRUSTFLOW_CALLBACKS__PUBLIC_URL: "http://receiver:8080",
      TRUSTFLOW_CODEC_SERVER__CORS_ORIGINS: "http://localhost:8233",
      CODEC_SERVER_PUBLIC_URL: "http://localhost:8081",
      ACCOUNTS_FILE: "deploy/sandbox/accounts.env",
    });
    const hashed = "docker run --rm -it caddy:2.10.2-alpine caddy hash-password";
    const printed = await deployment.follow(
      hashed,
      // A terminal of its own.
      `script --quiet --echo never --command '${hashed}' /dev/null`,
      `${PASSWORD}\n${PASSWORD}\n`,
    );
    const hash = /\$2[aby]\$\S+/.exec(printed)?.[0];
    await deployment.follow(
      "echo 'ana HASH' >> secrets/web_ui_users",
      `echo 'ana ${hash}' >> secrets/web_ui_users`,
    );
  });

  test("everything becomes healthy, and the doctor is content", async () => {
    await deployment.follow(UP, UP_WITH_SANDBOX);
    await deployment.follow("docker compose run --rm cli doctor");
  });

  test("a letter is delivered, and its callbacks too", async () => {
    await deployment.follow("cp examples/letter.json examples/letter.pdf work/");
    await deployment.follow(
      "docker compose run --rm cli send-postal --input letter.json --id order-7",
    );
    await deployment.cli("result order-7 --expect delivered");
    await deployment.follow("docker compose run --rm cli evidence order-7 --out evidence/order-7");
    // The stand-in has no command line of Temporal.
    await deployment.follow(
      "docker compose run --rm temporal-cli workflow list",
      "docker compose run --rm --entrypoint true temporal-cli",
    );
    const manifest = "work/evidence/order-7/manifest.json";
    const { files } = JSON.parse(await readFile(join(deployment.world.checkout, manifest), "utf8"));
    expect(files.length).toBeGreaterThan(1);
    const states = await deployment.run(
      'docker compose exec -T postgres psql -XAt --dbname trustflow --command "select distinct state from trustflow.callbacks"',
    );
    expect(states).toContain("delivered");
    expect(states).not.toContain("parked");
  });

  let runId = "";
  test("the Web UI asks for a login, and shows what the codec server decodes", async () => {
    const ui = "http://localhost:8233";
    const get = (path: string, password?: string) =>
      fetch(`${ui}${path}`, {
        headers:
          password === undefined ? {} : { authorization: `Basic ${btoa(`ana:${password}`)}` },
      });
    const letter = "/api/v1/namespaces/default/workflows/sendPostal%2Forder-7";
    const history = `${letter}/history`;
    for (const path of ["/", history]) {
      expect((await get(path)).status).toBe(401);
      expect((await get(path, "another password")).status).toBe(401);
    }
    const { workflowExecutionInfo }: any = await (await get(letter, PASSWORD)).json();
    ({ runId } = workflowExecutionInfo.execution);
    const settings: any = await (await get("/api/v1/settings", PASSWORD)).json();
    expect(settings).toMatchObject({ DisableWriteActions: true });
    const text = await (await get(history, PASSWORD)).text();
    expect(text).not.toContain("Calle Mayor");
    const {
      history: { events },
    } = JSON.parse(text);
    const { input } = events[0].workflowExecutionStartedEventAttributes;
    const decode = (endpoint: string, origin: string) =>
      fetch(`${endpoint}/decode`, {
        method: "POST",
        headers: { origin, "content-type": "application/json", "x-namespace": "default" },
        body: JSON.stringify(input),
      });
    const { Endpoint } = settings.Codec;
    const decoded: any = await (await decode(Endpoint, ui)).json();
    expect(atob(decoded.payloads[0].data)).toContain("Calle Mayor");
    expect((await decode(Endpoint, "http://localhost:9999")).status).toBe(403);
    expect((await decode("http://localhost:8081/guessed-token-guessed-token", ui)).status).toBe(
      401,
    );
  });

  describeWith("chromium", "a browser", () => {
    test("shows a payload in clear, which it has decoded by the codec server", async () => {
      const { stdout } = await promisify(execFile)(
        "chromium",
        [
          ...["--headless", "--no-sandbox", "--virtual-time-budget=60000", "--dump-dom"],
          `http://ana:${encodeURIComponent(PASSWORD)}@localhost:8233/namespaces/default/workflows/sendPostal%2Forder-7/${runId}/history`,
        ],
        { maxBuffer: 1e8 },
      );
      expect(stdout).toContain("Calle Mayor 1");
    });
  });

  test("each container reaches those of the page's table, and nobody else", async () => {
    for (const service of ["cli", "temporal-cli"])
      await deployment.run(`docker compose run --detach --entrypoint sleep ${service} 3600`);
    const places = await deployment.places();
    const open = await Promise.all(
      places.map(async (place) =>
        (await openAt(place)).map((address) => ({ ...address, service: place.service })),
      ),
    );
    const outside = await startOutside();
    const host = await startOnHost();
    try {
      for (const place of places) {
        const { service, gateways } = place;
        const others = open.flat().filter((address) => address.service !== service);
        const reached = (await reachedFrom(place, others)).map((address) => address.service);
        const out = await reachedFrom(place, [outside]);
        expect({ service, reaches: [...new Set(reached)].toSorted(), out: out.length }).toEqual({
          service,
          ...boundaries[service],
        });
        // This host in its networks, but no port that is on the loopback alone.
        const here = gateways.flatMap((gateway) =>
          [host.port, ...onLoopback].map((port) => ({ host: gateway, port })),
        );
        const ports = (await reachedFrom(place, here)).map(({ port }) => port);
        expect([service, ports]).toEqual([service, gateways.map(() => host.port)]);
      }
      expect(places.map(({ service }) => service).toSorted()).toEqual(
        Object.keys(boundaries).toSorted(),
      );
    } finally {
      host.close();
      await outside.close();
    }
  });
  test("each process ends as it does on the page of the first hour, by commands in containers", async () => {
    await deployment.follow(
      String.raw`curl --fail -X PUT http://127.0.0.1:8090/_sandbox/accounts/sandbox -H 'content-type: application/json' -d "{\"closeEventUrl\":\"$(docker compose run --rm cli callbacks address video-identification)\"}"`,
    );
    await deployment.follow("docker compose exec sandbox trustflow-sandbox messages");
    await deployment.run("cp -r examples work/");
    const shown = shellBlocks("docs/first-hour.md")
      .flatMap(({ commands }) => commands)
      .map(nameOf)
      .filter((name) => /^npx trustflow (?!dev)/.test(name));
    for (const name of shown) {
      const code = / otp /.test(name)
        ? `${deployment.world.seen.match(/\b\d{6}\b/g)?.at(-1)}\n`
        : "";
      await deployment.run(
        name.replace("npx trustflow sandbox", SANDBOX).replace("npx trustflow", CLI),
        code,
      );
    }
    expect(JSON.parse(await deployment.cli("list --state running --json"))).toEqual([]);
  });
  test("what is killed comes back by itself, and no letter is lost or sent twice", async () => {
    await deployment.hold();
    for (const service of staying) {
      await deployment.send(`killed-${service}`);
      const { pid } = await deployment.place(service);
      // Not by `docker kill`: the engine takes what a person kills for stopped, and does not start it again.
      process.kill(pid, "SIGKILL");
      await deployment.isHealthyAgain(service, pid);
    }
    await deployment.run("docker compose restart postgres");
    await deployment.goOn();
    for (const service of staying) await deployment.delivered(`killed-${service}`);
    await deployment.run(`${SANDBOX} ledger`);
    // As the page of the operators has it, for the clean-up's database role.
    await deployment.run("docker compose exec cleanup trustflow cleanup --repair-only");
  });

  test("what a person kills comes back by `up`, and what `down` has removed too, with its volumes", async () => {
    await deployment.hold();
    await deployment.send("removed");
    await deployment.run("docker kill $(docker ps --quiet)");
    await deployment.run(UP_WITH_SANDBOX);
    await deployment.run("docker compose --profile sandbox down");
    await deployment.run(UP_WITH_SANDBOX);
    await deployment.goOn();
    await deployment.delivered("removed");
  });

  test("with TLS to Temporal everything goes on, and Temporal's port asks for a certificate", async () => {
    await deployment.follow("sh deploy/mtls/make-certificates.sh secrets/tls");
    await deployment.follow(
      "echo 'COMPOSE_FILE=docker-compose.yml:deploy/mtls/compose.yml' >> .env",
    );
    await deployment.follow(UP);
    await deployment.cli("doctor");
    await deployment.send("with-tls");
    await deployment.delivered("with-tls");
    const certificate =
      "TEMPORAL_TLS_CLIENT_CERT_PATH=secrets/tls/application.pem TEMPORAL_TLS_CLIENT_KEY_PATH=secrets/tls/application-key.pem";
    const list = (more: string) =>
      deployment.world.run(
        `TEMPORAL_ADDRESS=localhost:7233 TEMPORAL_TLS_SERVER_CA_CERT_PATH=secrets/tls/server-ca.pem ${more} TRUSTFLOW_KEYS__CODEC__FILE=secrets/keys_codec trustflow list --json`,
      );
    expect(await list(certificate)).toMatchObject({
      code: 0,
      output: expect.stringContaining("with-tls"),
    });
    expect(await list("")).toMatchObject({ code: 4 });
  });

  test("a role gets another password of the database", async () => {
    await deployment.run("openssl rand -hex 24 > secrets/database_worker");
    await deployment.follow("docker compose run --rm database-setup");
    const { pid } = await deployment.place("worker");
    await deployment.follow("docker compose restart worker");
    await deployment.isHealthyAgain("worker", pid);
    await deployment.send("new-password");
    await deployment.delivered("new-password");
  });

  test("a key is added to a ring, then becomes the first, while a letter is open", async () => {
    const restart = "docker compose restart worker relay codec-server cleanup";
    await deployment.hold();
    await deployment.send("old-key");
    await deployment.follow(
      String.raw`key="$(docker run --rm trustflow:local keys generate --id 2026-11)" && printf ',%s\n' "$key" >> secrets/keys_codec`,
    );
    await deployment.follow(restart);
    await deployment.follow(UP);
    const ring = join(deployment.world.checkout, "secrets/keys_codec");
    const [first, added] = (await readFile(ring, "utf8")).split(",");
    await deployment.world.file("secrets/keys_codec", `${added?.trim()},${first}`);
    await deployment.run(restart);
    await deployment.run(UP);
    await deployment.send("new-key");
    await deployment.goOn();
    for (const id of ["old-key", "new-key"]) await deployment.delivered(id);
    await deployment.cli("doctor");
  });

  test("a backup is restored to empty volumes while a letter is open, and metrics are switched on", async () => {
    await deployment.hold();
    await deployment.send("restored");
    for (const command of [
      "umask 077",
      "docker compose stop",
      "docker compose run --rm --no-deps -T --entrypoint tar postgres -C /var/lib/postgresql -c . > databases.tar",
      "docker compose run --rm --no-deps -T --entrypoint tar cleanup -C /var/lib/trustflow/documents -c --exclude=./keys . > documents.tar",
      "docker compose run --rm --no-deps -T --entrypoint tar cleanup -C /var/lib/trustflow/documents -c ./keys > keys.tar",
      UP,
    ])
      await deployment.follow(command);
    await deployment.run("docker compose stop && docker container prune --force");
    await deployment.run(
      "docker volume rm trustflow-documents $(docker volume ls --quiet --filter name=_postgres)",
    );
    await deployment.run(
      "echo 'COMPOSE_FILE=docker-compose.yml:deploy/mtls/compose.yml:deploy/prometheus/compose.yml' >> .env",
    );
    for (const command of [
      "docker compose run --rm --no-deps -T --entrypoint tar postgres -C /var/lib/postgresql -x < databases.tar",
      "docker compose run --rm --no-deps -T --entrypoint tar cleanup -C /var/lib/trustflow/documents -x < documents.tar",
      "docker compose run --rm --no-deps -T --entrypoint tar cleanup -C /var/lib/trustflow/documents -x < keys.tar",
      "docker compose up --detach --wait --wait-timeout 600 receiver relay",
    ])
      await deployment.follow(command);
    const started = (await deployment.places()).map(({ service }) => service);
    expect(started).toContain("relay");
    expect(started).not.toContain("worker");
    await deployment.run(UP);
    await deployment.goOn();
    await deployment.delivered("restored");
    await deployment.run(`${SANDBOX} ledger`);
    for (const role of ["receiver", "relay", "worker"])
      await deployment.run(
        `docker compose exec -T worker node -e "fetch('http://${role}:9464/metrics').then((r) => process.exit(r.ok ? 0 : 1))"`,
      );
  });

  test("another image takes over while a letter is open, and the one before is put back", async () => {
    await deployment.hold();
    await deployment.send("upgraded");
    const before = await deployment.place("worker");
    await deployment.run("echo '// A later release.' >> src/worker.ts");
    await deployment.follow("docker tag trustflow:local trustflow:before");
    await deployment.follow(BUILD);
    await deployment.follow(KEYS);
    await deployment.follow("docker compose run --rm cli replay");
    await deployment.follow(UP);
    const after = await deployment.place("worker");
    expect(after.image).not.toBe(before.image);
    await deployment.goOn();
    await deployment.delivered("upgraded");
    await deployment.run(
      "docker tag trustflow:before trustflow:local && docker compose up --detach --no-deps worker",
    );
    await deployment.isHealthyAgain("worker", after.pid);
    expect((await deployment.place("worker")).image).toBe(before.image);
  });

  test("a finished letter is erased", async () => {
    await deployment.follow('docker compose run --rm erase sendPostal/order-7 --by "Ana Ruiz"');
    await deployment.run(`${SANDBOX} ledger`);
    expect(deployment.left).toEqual([]);
  });
}
