// What `npm run verify` says of the parts that are delivered, and the script that pins the image's base.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { delivered, judged, sbomProblems, withoutIntegrity } from "../../scripts/supply-chain.mjs";
import { closedPort, listening } from "../cli/doctor/doctor.js";
import { textOf } from "../docs/repository.js";
import { temporaryFolder } from "../harness/temporary.js";

describe("the SBOM", () => {
  const lock = {
    packages: {
      "": { version: "0.1.0" },
      "node_modules/@temporalio/client": { version: "1.24.0" },
      "node_modules/zod": { version: "4.6.7" },
      "node_modules/knip": { version: "6.0.0", dev: true },
      "node_modules/knip/node_modules/zod": { version: "3.0.0", dev: true },
    },
  };
  const sbom = (...parts: string[]) => ({
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    metadata: { component: { "bom-ref": "trustflow@0.1.0" } },
    components: parts.map((part) => ({ "bom-ref": part })),
    dependencies: [
      { ref: "trustflow@0.1.0", dependsOn: ["zod@4.6.7", "knip@6.0.0"] },
      { ref: "knip@6.0.0", dependsOn: ["zod@3.0.0"] },
    ],
  });
  const own = ["@temporalio/client@1.24.0", "zod@4.6.7"];

  test("has what is delivered, also what development needs too, and nothing else", () => {
    const made = delivered(sbom(...own, "knip@6.0.0", "zod@3.0.0"), lock);
    expect(made.components.map((part) => part["bom-ref"])).toEqual(own);
    expect(made.dependencies).toEqual([{ ref: "trustflow@0.1.0", dependsOn: ["zod@4.6.7"] }]);
    expect(sbomProblems(made, lock)).toEqual([]);
  });

  test("names a package that it lacks, and one that it should not have", () => {
    expect(sbomProblems(sbom(...own.slice(1), "knip@6.0.0"), lock)).toEqual([
      "@temporalio/client@1.24.0 is missing",
      "knip@6.0.0 is not delivered",
    ]);
  });

  test("is refused where it is none", () => {
    const none = ["it is no CycloneDX document of 1.5 or later"];
    for (const other of [{ specVersion: "1.4" }, { bomFormat: "SPDX" }])
      expect(sbomProblems({ ...sbom(...own), ...other }, lock)).toEqual(none);
    expect(sbomProblems(delivered(undefined, lock), lock)).toEqual(none);
  });
});

describe("the lock file", () => {
  test("has the integrity of each package: without it npm takes whatever the registry sends", () => {
    const integrity = "sha512-x";
    const packages = {
      "": { version: "0.1.0" },
      "node_modules/zod": { version: "4.6.7", integrity },
      "node_modules/own": { link: true },
      "node_modules/zod/node_modules/part": { version: "1.0.0", inBundle: true },
      "node_modules/knip": { version: "6.0.0", dev: true },
    };
    expect(withoutIntegrity({ packages })).toEqual(["node_modules/knip"]);
    expect(withoutIntegrity(JSON.parse(textOf("package-lock.json")))).toEqual([]);
  });
});

describe("the audit", () => {
  const audit = (severities: string[]) =>
    JSON.stringify({
      vulnerabilities: Object.fromEntries(
        severities.map((severity, at) => [`p${at}`, { severity }]),
      ),
      metadata: {
        vulnerabilities: {
          high: severities.filter((one) => one === "high").length,
          critical: severities.filter((one) => one === "critical").length,
          total: severities.length,
        },
      },
    });

  test.each(["high", "critical"])("a %s finding fails, and is named", (severity) => {
    const { ok, word } = judged(audit(["low", severity]));
    expect(ok).toBe(false);
    expect(word).toContain(`p1 (${severity})`);
    expect(word).not.toContain("p0");
  });

  test("what is less is told, and fails nothing", () => {
    const word = "nothing high or critical; 2 in all";
    expect(judged(audit(["low", "moderate"]))).toEqual({ ok: true, isRun: true, word });
    expect(judged(audit([]))).toMatchObject({ ok: true });
  });

  test.each([
    ['{"message":"405 Method Not Allowed - POST https://host/x"}', "(405 Method Not Allowed)"],
    ['{"error":{"code":"ENOTFOUND","summary":""}}', "answer it, so"],
    ["", "answer it, so"],
  ])("a registry that does not answer it is told: %s", (text, part) => {
    const { ok, isRun, word } = judged(text);
    expect([ok, isRun]).toEqual([true, false]);
    expect(word).toContain("the registry does not");
    expect(word).toContain(part);
    expect(word).toContain("nothing was checked");
    expect(word).not.toContain("host");
  });
});

test("an audit that no registry answers is not run, and the check says so", async () => {
  const said = `import { supplyChain } from "./scripts/supply-chain.mjs";
    process.exitCode = await supplyChain((check) => console.log("not run:", check));`;
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${await closedPort()}` };
  const script = ["--input-type=module", "-e", said];
  const { stdout } = await promisify(execFile)(process.execPath, script, { env });
  expect(stdout).toBe("not run: npm audit\n");
});

describe("the image's base", () => {
  const digest = `sha256:${"a1".repeat(32)}`;
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    const { url = "", method, headers } = request;
    asked.push(`${method} ${url}`);
    const { port } = registry.address() as { port: number };
    if (url.startsWith("/token")) return void response.end(JSON.stringify({ token: "t" }));
    if (headers.authorization !== "Bearer t") {
      const realm = `http://127.0.0.1:${port}/token`;
      const challenge = `Bearer realm="${realm}",service="s",scope="repository:library/node:pull"`;
      return void response.writeHead(401, { "www-authenticate": challenge }).end();
    }
    response.writeHead(200, url.includes("mute") ? {} : { "docker-content-digest": digest }).end();
  });
  let folder: string;
  let url: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    url = `http://127.0.0.1:${await listening(registry)}`;
  });
  afterAll(async () => {
    registry.close();
  });

  async function pinned(text: string, at = url) {
    const file = join(folder, "Dockerfile");
    await writeFile(file, text);
    const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      const args = ["scripts/pin-image.mjs", "--registry", at, file];
      execFile(process.execPath, args, (error, _, stderr) =>
        resolve({ code: error?.code ?? 0, stderr }),
      );
    });
    return { ...ended, text: await readFile(file, "utf8") };
  }

  test("its tag is that of the Node of test/lts, with a digest in the right form if there is one", () => {
    const [, version] =
      /^ARG NODE_IMAGE=node:(24\.\d+\.\d+)-bookworm-slim(@sha256:[\da-f]{64})?$/m.exec(
        textOf("Dockerfile"),
      ) as unknown as [string, string];
    const { optionalDependencies } = JSON.parse(textOf("test/lts/package.json"));
    expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([version]));
    const bases = [...textOf("Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    const stages = ["build", "production"];
    expect(
      bases.filter((base) => base !== "${NODE_IMAGE}" && !stages.includes(base ?? "")),
    ).toEqual([]);
  });

  test("the script writes the registry's digest behind the tag, and replaces an old one", async () => {
    const old = `@sha256:${"0".repeat(64)}`;
    for (const before of ["", old]) {
      const { code, text } = await pinned(
        `# x\nARG NODE_IMAGE=node:24.1.0-slim${before}\nFROM y\n`,
      );
      expect({ code, text }).toEqual({
        code: 0,
        text: `# x\nARG NODE_IMAGE=node:24.1.0-slim@${digest}\nFROM y\n`,
      });
    }
    expect(asked).toContain("HEAD /v2/library/node/manifests/24.1.0-slim");
    expect(asked.find((one) => one.includes("/token"))).toContain("scope=repository%3Alibrary");
  });

  test("where the registry cannot be asked or names none, it says so and changes nothing", async () => {
    const text = "ARG NODE_IMAGE=node:24.1.0-slim\n";
    const away = await pinned(text, `http://127.0.0.1:${await closedPort()}`);
    expect(away).toMatchObject({ code: 1, text });
    expect(away.stderr).toContain("not pinned, nothing was changed");
    const mute = await pinned(text.replace("slim", "mute"));
    expect(mute.code).toBe(1);
    expect(mute.stderr).toContain("names no digest");
    expect((await pinned("FROM node\n")).stderr).toContain("no line ARG NODE_IMAGE");
  });
});
