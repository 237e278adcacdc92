// trustflow-client as an application installs it: small, typed for each kind of module, and it starts a process from each.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readdirSync, statSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../docs/repository.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { installPacked, run } from "./packed.js";

const LIMIT_MS = 10 * 60_000;
const MEGABYTE = 1e6;

const program = `
  const recipientAddress: SendPostalInput["recipientAddress"] = {
    streetAddress: "Calle Mayor 1", postalCode: "28013", locality: "Madrid", region: "Madrid", country: "ES",
  };
  const trustflow = await Trustflow.connect();
  const document = await trustflow.documents.put(Buffer.from("%PDF-1.7"), "application/pdf");
  const letter: PostalHandle = await trustflow.sendPostal(id, Contract.parse({ document, recipientAddress }));
  console.log(letter.id, await letter.isOpen(), schema.type);
  await trustflow.close();`;
const sources = {
  "main.mts": `
  import { Trustflow, type PostalHandle, type SendPostalInput } from "trustflow-client";
  import { SendPostalInput as Contract } from "trustflow-client/contracts";
  import schema from "trustflow-client/schemas/sendPostal.input.json" with { type: "json" };
  const id = "from-esm";
  ${program}`,
  "main.cts": `
  import client = require("trustflow-client");
  import contracts = require("trustflow-client/contracts");
  import schema = require("trustflow-client/schemas/sendPostal.input.json");
  type PostalHandle = client.PostalHandle;
  type SendPostalInput = client.SendPostalInput;
  const { Trustflow } = client;
  const Contract = contracts.SendPostalInput;
  const id = "from-cjs";
  void (async () => {
  ${program}
  })();`,
};

const kinds = {
  nodenext: { module: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
};

/** On a system that takes starts. */
export function testClientPackage(system: () => TestStack): void {
  let folder: string;

  beforeAll(async () => {
    folder = await installPacked("packages/client");
    for (const [file, text] of Object.entries(sources)) await writeFile(join(folder, file), text);
  }, LIMIT_MS);
  afterAll(() => rm(folder, { recursive: true, force: true }), LIMIT_MS);

  test("at most 50 packages of 50 MB are installed, and no worker, web server or database driver", async () => {
    const modules = join(folder, "node_modules");
    const lock = JSON.parse(await readFile(join(modules, ".package-lock.json"), "utf8"));
    const names = Object.keys(lock.packages);
    expect(names.length).toBeLessThanOrEqual(50);
    expect(names.filter((name) => /\/(worker|testing|fastify|pg|got)$/.test(name))).toEqual([]);
    const bytes = readdirSync(modules, { recursive: true, encoding: "utf8" })
      .map((path) => statSync(join(modules, path)).size)
      .reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeLessThan(50 * MEGABYTE);
  });

  describe.each(Object.keys(sources))("%s", (file) => {
    test.each(Object.entries(kinds))(
      "compiles under %s, with the types of all packages checked",
      async (name, kind) => {
        const outDir = `out-${name}`;
        const compilerOptions = {
          ...kind,
          ...{ target: "es2023", strict: true, skipLibCheck: false, types: ["node"], outDir },
        };
        const project = join(folder, `${name}.json`);
        await writeFile(project, JSON.stringify({ compilerOptions, files: [file] }));
        const tsc = join(root, "node_modules/typescript/bin/tsc");
        const { stdout } = await run(process.execPath, [tsc, "-p", project], folder).catch(
          (error: { stdout: string }) => error,
        );
        expect(stdout).toBe("");
      },
      LIMIT_MS,
    );

    test("starts a process", async () => {
      const compiled = join("out-nodenext", file.replace("ts", "js"));
      const { stdout } = await run(process.execPath, [compiled], folder, system().stack.clientEnv);
      expect(stdout).toMatch(/^from-(esm|cjs) true object$/m);
    });
  });
}
