// `trustflow init` as a script and as a person use it. That its checks are those of the doctor is shown where a provider answers: the
// commands of docs/your-own-provider.md are run in test/long/docs.
import { beforeEach, expect, test } from "vitest";
import { mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "node:tls";
import {
  certificateAuthority,
  serverCertificate,
} from "../../packages/sandbox/src/tls/certificate.js";
import { load } from "../../src/config/load.js";
import { ConfigWithAccounts } from "../../src/providers/accounts.js";
import { providerNames } from "../../src/providers/registry.js";
import type { Provider } from "../../src/providers/registry.js";
import { onTerminal } from "../harness/stack/terminal.js";
import { closedPort, listening } from "./doctor/doctor.js";
import { commandLine } from "./in-process.js";
import { temporaryFolder } from "../harness/temporary.js";

let folder: string;
let away: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  away = `https://127.0.0.1:${await closedPort()}`;
});

const toml = () => readFile(join(folder, "trustflow.toml"), "utf8");
const init = async (...args: string[]) => commandLine(["init", ...args], { cwd: folder });
const post = () => [
  ...["--provider", "evi-post", "--set", `evi-post.baseUrl=${away}`],
  ...["--set", "evi-post.username=acme"],
];

const name = "service";
const required: Record<Provider, Record<string, string>> = {
  "evi-post": { baseUrl: "", username: name },
  "evi-notice": { baseUrl: "", username: name },
  "disposable-certificate": {
    ...{ baseUrl: "", username: name, lraId: "7" },
    ...{ certificateFile: "a.pem", keyFile: "a.key" },
  },
  "messaging-gateway": { baseUrl: "", username: name },
  "one-shot-signature": { baseUrl: "" },
  "envelope-signature": {
    ...{ caBaseUrl: "", esignBaseUrl: "", vendor: "Acme" },
    ...{ certificateFile: "a.pem", keyFile: "a.key" },
  },
  "credential-wallet": { baseUrl: "" },
  "video-identification": { baseUrl: "" },
};

test.each(providerNames)(
  "an account of %s is written with all that it requires",
  async (provider) => {
    const bare = await init("--provider", provider, "--json");
    expect(bare.code).toBe(2);
    const { fields } = JSON.parse(bare.stderr);
    expect(fields[0].path).toMatch(new RegExp(`^${provider}\\.`));
    expect(await readdir(folder)).toEqual([]);

    const set = Object.entries(required[provider]).flatMap(([key, value]) => [
      "--set",
      `${provider}.${key}=${value === "" ? away : value}`,
    ]);
    const { code, stdout } = await init("--provider", provider, ...set, "--json");
    const said = JSON.parse(stdout);
    // Neither the secrets nor the provider are there.
    expect({ code, said }).toMatchObject({ code: 4, said: { ok: false, file: "trustflow.toml" } });
    expect(said.checks[0]).toMatchObject({ check: `account default ${provider}`, state: "fail" });
    const config = load(ConfigWithAccounts, { TRUSTFLOW_CONFIG: join(folder, "trustflow.toml") });
    expect(config.environment).toBe("preproduction");
    expect(Object.keys(config.accounts["default"] ?? {})).toEqual([provider]);
  },
);

test("secrets stand in files of their own, never in the configuration itself", async () => {
  const inline = await init(...post(), "--set", "evi-post.password=hunter2");
  expect(inline.code).toBe(2);
  expect(inline.stderr).toContain("evi-post.password is a secret");
  expect(inline.stderr).not.toContain("hunter2");
  expect(await readdir(folder)).toEqual([]);
  await init(...post(), "--environment", "production");
  expect(await toml()).toBe(
    `environment = "production"

[accounts.default.evi-post]
baseUrl = "${away}"
username = "acme"
password = { file = "secrets/evi-post.password" }
`,
  );
  expect((await stat(join(folder, "trustflow.toml"))).mode & 0o777).toBe(0o600);
});

test("a key is written in the type that the provider takes", async () => {
  const set = ["siteHasRegion=false", "timeoutSeconds=7", "destinationCountries=ES,PT"];
  await init(...post(), ...set.flatMap((one) => ["--set", `evi-post.${one}`]));
  const lines = [
    "siteHasRegion = false",
    "timeoutSeconds = 7",
    'destinationCountries = ["ES","PT"]',
  ];
  for (const line of lines) expect(await toml()).toContain(`\n${line}\n`);
});

test("the accounts are checked as the doctor does", async () => {
  const without = await init(...post(), "--file", "my accounts.toml");
  expect(without.stderr).toContain(
    "trustflow dev --directory .trustflow-preproduction --config 'my accounts.toml'",
  );
  expect(without.code).toBe(4);
  expect(without.stdout).toMatch(/FAIL +account default evi-post .*password/);
  await mkdir(join(folder, "secrets"));
  await writeFile(join(folder, "secrets", "evi-post.password"), "hunter2");
  const withSecret = await init(...post());
  expect(withSecret.code).toBe(4);
  expect(withSecret.stdout).toMatch(/FAIL +account default evi-post +evi-post at 127.0.0.1/);
  expect(withSecret.stderr).toContain(
    "trustflow.toml is written; correct what FAIL names, then: trustflow dev --directory .trustflow-preproduction",
  );
  expect(withSecret.stdout + withSecret.stderr).not.toContain("hunter2");
});

test("a server whose certificate is not trusted fails, although no call checks the account", async () => {
  const shown = serverCertificate(["localhost"], certificateAuthority("Authority of the test"));
  const server = createServer(shown, (socket) => socket.on("error", () => undefined).end());
  const port = await listening(server);
  const { stdout, code } = await init(
    ...["--provider", "messaging-gateway", "--set", "messaging-gateway.username=acme"],
    ...["--set", `messaging-gateway.baseUrl=https://localhost:${port}`],
  );
  server.close();
  expect(code).toBe(4);
  expect(stdout).toMatch(
    new RegExp(`FAIL +certificate localhost:${port} [^]*certificateUntrusted`),
  );
});

test.each([
  ["a key that the provider does not have", ["--set", "evi-post.baseUr=x"], "did you mean baseUrl"],
  [
    "another provider's key",
    ["--set", "evi-notice.baseUrl=x"],
    "must begin with a chosen provider",
  ],
  ["a key of every object", ["--set", "evi-post.__proto__=x"], "evi-post has no key __proto__"],
  ["no key at all", ["--set", "evi-post"], "must begin with a chosen provider"],
  ["an address that is none", ["--set", "evi-post.baseUrl=post"], "evi-post.baseUrl: must be an"],
  ["an address in clear text", ["--set", "evi-post.baseUrl=http://post.example.com"], "https"],
])("%s is refused, and nothing is written", async (_, more, said) => {
  const { stderr, code } = await init(...post(), ...more);
  expect(stderr).toContain(said);
  expect([2, 4]).toContain(code);
  expect(await readdir(folder)).toEqual([]);
});

test("no file is overwritten", async () => {
  await writeFile(join(folder, "trustflow.toml"), "# mine\n");
  const { code, stderr } = await init(...post());
  expect(code).toBe(2);
  expect(stderr).toContain(
    "trustflow.toml exists already and is not overwritten: edit it, delete it",
  );
  expect(await toml()).toBe("# mine\n");
});

test("on a terminal it asks; a secret is not shown and goes into a file of its own", async () => {
  const file = join(folder, "trustflow.toml");
  const person = onTerminal(["init", "--file", file], { HOME: folder });
  await person.shows("Environment of the accounts");
  person.type("test\n");
  await person.shows("Environment of the accounts", 2);
  person.type("preproduction\n");
  for (const provider of providerNames) {
    await person.shows(`Do you have an account of ${provider}?`);
    person.type(provider === "evi-post" ? "y\n" : "\n");
  }
  await person.shows("evi-post.baseUrl (");
  person.type("post\n");
  await person.shows("evi-post.baseUrl: must be an");
  person.type(`${away}\n`);
  await person.shows("evi-post.username (");
  person.type("acme\n");
  await person.shows("evi-post.password (not shown");
  person.type("\n");
  expect(await person.ended).toBe(4);
  expect(person.shown()).toContain("is written; correct what FAIL names, then: trustflow dev");
  expect(await toml()).toContain('username = "acme"');
}, 120_000);
