// What a reader of each page has at hand: what was the case before, what stands for a placeholder, what is typed.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { createServer } from "node:tls";
import { freePorts, isFreePort } from "../../../packages/dev/src/processes/free-ports.js";
import { defaultAccounts } from "../../../packages/sandbox/src/engine/accounts.js";
import {
  certificateAuthority,
  serverCertificate,
} from "../../../packages/sandbox/src/tls/certificate.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { lostEnrolment } from "../../processes/issue-certificate/inputs.js";
import { lostMessage } from "../../processes/send-message/inputs.js";
import { refusedLetter } from "../../processes/send-postal/inputs.js";
import type { Stopped } from "../../processes/stopped.js";
import { commandLine } from "../../cli/in-process.js";
import { textOf } from "../../docs/repository.js";
import type { PageWorld } from "../../harness/pages/world.js";

export interface Guide {
  page: string;
  /** A command that succeeds in the checkout where the page can be followed: its language is there, and its packages can be had. */
  needs?: string;
  /** What the page takes for granted. */
  first?: (world: PageWorld) => Promise<void>;
  /** What must have happened before a command makes sense. */
  before?: Record<string, (world: PageWorld) => Promise<void>>;
  /** What stands on the page, and what stands for it here. */
  replaced?: Record<string, string>;
  typed?: (command: string, world: PageWorld) => string;
  /** What must be the case when the page has been read. */
  last?: (world: PageWorld) => Promise<void>;
}

/** The newest code that was shown, typed where a command asks for one. */
const code = (command: string, world: PageWorld): string =>
  /[ "]otp /.test(command) ? `${world.seen.match(/\b\d{6}\b/g)?.at(-1)}\n` : "";

/** Runs what the page does not show; it must end with 0. */
async function run(world: PageWorld, command: string): Promise<string> {
  const { code: ended, output } = await world.run(command);
  if (ended !== 0) throw new Error(`${command} ended with ${ended}:\n${output}`);
  return output;
}

/** Runs within the test what the page takes for granted, with the variables and the folder of the reader's shell. Returns its JSON. */
async function prepare(world: PageWorld, ...args: string[]) {
  await run(world, "env -0 > environment");
  const variables = await readFile(join(world.checkout, "environment"), "utf8");
  const env = Object.fromEntries(
    variables.split("\0").map((line) => [line.replace(/=.*/s, ""), line.replace(/^[^=]*=/, "")]),
  );
  const place = { env, cwd: world.checkout };
  const { code: ended, ...said } = await commandLine([...args, "--json"], place);
  // `status` ends with 5 where an operator has to decide.
  if (ended !== 0 && ended !== 5)
    throw new Error(`${args.join(" ")} ended with ${ended}:\n${said.stderr}`);
  return JSON.parse(said.stdout);
}

/** Starts a process whose words make it wait for an operator, and waits until it does. */
async function startStopped(
  world: PageWorld,
  { command, example, stopped }: Stopped,
  id: string,
): Promise<void> {
  const input = stopped(JSON.parse(textOf(`examples/${example}`)), id);
  await world.file(`examples/${id}.json`, JSON.stringify(input));
  await prepare(world, command, "--input", `examples/${id}.json`, "--id", id);
  const isListed = async () =>
    (await prepare(world, "list", "--attention")).some((one: { id: string }) => one.id === id);
  while (!(await isListed())) await delay(500);
}

/** An enrolment whose answer was lost, and what the provider has of it. */
async function loseEnrolment(world: PageWorld, id: string): Promise<void> {
  await startStopped(world, lostEnrolment, id);
  const { items } = await prepare(world, "sandbox", "items", "--intent", id);
  const item = await prepare(world, "sandbox", "item", items[0].id);
  const ids = { certIdOtp: String(items[0].id), deviceCode: item.deviceCode };
  await world.file("enrolled.json", JSON.stringify(ids));
}

/** How long an attempt may be running, in the place where an operator is in a hurry. */
const LEASE_SECONDS = 31;

/** An operator decides about an attempt once it can run no more. */
async function untilLeaseIsOver(world: PageWorld, id: string): Promise<void> {
  const { attention } = await prepare(world, "status", id);
  await delay(Math.max(0, Date.parse(attention.since) + LEASE_SECONDS * 1_000 - Date.now()));
}

/** A port whose next one is free too: a sandbox takes both. */
async function portPair(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return (await isFreePort(port + 1)) ? port : portPair();
}

const sandboxPort = await portPair();

/** Stands for the provider's test environment, and counts what it was sent. */
const [standIn = 0, standInTls = 0] = await freePorts(2);

/** The stand-in behind https, with a certificate whose authority the reader's programs know. */
async function encrypted(world: PageWorld): Promise<void> {
  const authority = certificateAuthority("Authority of the test environment");
  const server = createServer(serverCertificate(["localhost"], authority), (socket) => {
    pipeline(socket, connect(standIn, "127.0.0.1"), socket, () => undefined);
  });
  server.listen(standInTls, "127.0.0.1");
  await once(server, "listening");
  world.atEnd(async () => void server.close());
  await world.file("authority.pem", authority.cert);
  world.set("NODE_EXTRA_CA_CERTS", join(world.checkout, "authority.pem"));
}

async function intentsAt(world: PageWorld, where = ""): Promise<string> {
  const { byIntent } = JSON.parse(await run(world, `trustflow sandbox ledger ${where} --json`));
  return Object.keys(byIntent).join();
}

/** What the page writes again from the schemas is what is in the repository. */
const writtenAgain =
  (...paths: string[]) =>
  async (world: PageWorld) => {
    for (const path of paths) {
      const written = await readFile(join(world.checkout, path), "utf8");
      if (written !== textOf(path)) throw new Error(`${path} is not what generate.sh writes`);
    }
  };

const password = "a password of the test environment";

/**
 * npm takes more than a second of a core to find what is installed, so npx starts it at once, except on the page of the onboarding example.
 * Anything else is for npm's own npx.
 */
export const quickNpx = async (world: PageWorld) => {
  const npx = (await run(world, "command -v npx")).trim();
  await world.program(
    "npx",
    `[ "$1" = trustflow ] || exec ${npx} "$@"; shift; exec trustflow "$@"`,
  );
};

/** What a reader tries first, and the tasks of an operator. Pages of one list are read one after the other, in the same place. */
export const system: Guide[] = [
  {
    page: "README.md",
    first: (world) => world.file("trustflow.toml", `[journal]\nleaseSeconds = ${LEASE_SECONDS}\n`),
  },
  { page: "docs/first-hour.md", typed: code },
  { page: "docs/cli.md" },
  { page: "docs/operations/install.md" },
  {
    page: "docs/operations/attention.md",
    before: {
      "trustflow list --attention": async (world) => {
        await startStopped(world, refusedLetter, "order-19");
        await loseEnrolment(world, "order-20");
        await startStopped(world, lostMessage, "order-24");
      },
      'trustflow resolve sendMessage/order-24 --decision retry --confirm-retry --by "Ana Ruiz" --note "not in the portal"':
        (world) => untilLeaseIsOver(world, "sendMessage/order-24"),
    },
  },
  { page: "docs/operations/who-decides.md" },
  {
    page: "docs/operations/callbacks.md",
    before: {
      "trustflow callbacks address one-shot-signature --account default": async (world) => {
        await run(world, ". .trustflow/operator.env");
      },
    },
  },
  { page: "docs/operations/retention.md" },
  {
    // The pages of the other processes are made from the same template (test/docs/exceptions.ts).
    page: "docs/reference/sendPostal.md",
    first: async (world) => void (await run(world, ". .trustflow/client.env")),
    // It ends with 1 where something happened twice.
    last: async (world) => void (await run(world, "trustflow sandbox ledger")),
  },
];

/** Applications without Trustflow's code. */
export const languages: Guide[] = [
  {
    page: "examples/go/README.md",
    needs: "go -C examples/go mod download",
    first: async (world) => {
      const own = execFileSync("go", ["env", "GOMODCACHE", "GOCACHE"], { encoding: "utf8" });
      const [modules = "", built = ""] = own.split("\n");
      world.set("GOMODCACHE", modules);
      world.set("GOCACHE", built);
    },
    typed: code,
    last: writtenAgain("examples/go/types.go"),
  },
  {
    page: "examples/java/README.md",
    needs: "mvn --quiet --batch-mode --file examples/java dependency:resolve",
    typed: code,
    last: writtenAgain(
      ...["sendpostal/SendPostal", "issuecertificate/IssueCertificate"].flatMap((path) => [
        `examples/java/src/main/schemas/${path}Input.json`,
        `examples/java/src/main/schemas/${path.replace("/", "/result/")}Result.json`,
      ]),
    ),
  },
  {
    page: "examples/python/README.md",
    needs:
      'python3 -c "import venv, sys; sys.exit(sys.version_info < (3, 11))" && python3 -m pip download --quiet --no-deps --dest "$(mktemp -d)" --requirement examples/python/requirements.txt',
    typed: code,
    last: writtenAgain(
      ...["issue_certificate", "send_postal"].flatMap((name) =>
        ["input", "result"].map((part) => `examples/python/${name}_${part}.py`),
      ),
    ),
  },
];

const sandbox: Guide[] = [
  {
    page: "docs/sandbox/README.md",
    replaced: { "8090": String(sandboxPort) },
    first: async (world) => world.set("TRUSTFLOW_SANDBOX__URL", `http://127.0.0.1:${sandboxPort}`),
  },
  { page: "docs/sandbox/scenarios.md" },
  { page: "docs/sandbox/providers.md", replaced: { "8090": String(sandboxPort) } },
];

const ownProvider: Guide[] = [
  {
    page: "docs/your-own-provider.md",
    replaced: { "https://post.test.example.com": `https://localhost:${standInTls}` },
    typed: (command) => (command.startsWith("stty ") ? `${password}\n` : ""),
    first: async (world) => {
      const acme = { username: "acme", password };
      const accounts = [...defaultAccounts, acme];
      const sandbox = await startSandbox({ port: standIn, speed: "auto", accounts });
      world.atEnd(() => sandbox.close());
      await encrypted(world);
    },
    last: async (world) => {
      const provider = await intentsAt(world, `--url http://127.0.0.1:${standIn}`);
      const sent = [provider, await intentsAt(world)].join(" ");
      if (sent !== "test-1 test-2") throw new Error(`provider and sandbox were sent ${sent}`);
    },
  },
];

const tools: Guide[] = [{ page: "docs/applications.md" }, { page: "docs/testing.md" }];

/** Packages of their own, with the npm of a reader. */
export const onboarding: Guide[] = [{ page: "examples/onboarding/README.md" }];
const testing: Guide[] = [{ page: "examples/testing/README.md" }];

export const others = [testing, ownProvider, sandbox, tools];

export const guides = [system, languages, onboarding, ...others].flat();
