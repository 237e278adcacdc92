// The deployment that is shipped, on a container engine, as docs/operations/install.md has it. The tests go on where the one before has
// left off. Its images are stand-ins (stand-ins/images.ts): what is pulled, and other engines, are not shown.
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describeWith } from "../harness/programs.js";
import { Deployment } from "./deployment.js";

const LIMIT_MS = 20 * 60_000;
const { TEST_ENGINE = "" } = process.env;
const UP = "docker compose up --detach --wait --wait-timeout 600";
const PASSWORD = "a long password of Ana";

describeWith(
  "a container engine",
  "the deployment",
  () => {
    let deployment: Deployment;
    beforeAll(async () => {
      deployment = await Deployment.open(JSON.parse(TEST_ENGINE));
    }, LIMIT_MS);
    afterAll(() => deployment?.close(), LIMIT_MS);

    const fillIn = async (values: Record<string, string>) => {
      const lines = (await readFile(join(deployment.world.checkout, ".env"), "utf8")).split("\n");
      const filled = lines.map((line) => {
        const name = line.slice(0, -1);
        return line.endsWith("=") && name in values ? `${line}${values[name]}` : line;
      });
      await deployment.world.file(".env", filled.join("\n"));
    };

    test(
      "the page leads to an image, secrets, settings and a login",
      async () => {
        await deployment.follow("docker build --tag trustflow:local .");
        await deployment.follow(
          'docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" --workdir /work trustflow:local keys generate --secrets secrets',
        );
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
      },
      LIMIT_MS,
    );

    test(
      "everything becomes healthy, and the doctor is content",
      async () => {
        await deployment.follow(UP, UP.replace("compose", "compose --profile sandbox"));
        await deployment.follow("docker compose run --rm cli doctor");
      },
      LIMIT_MS,
    );

    test(
      "a letter is delivered",
      async () => {
        await deployment.run("cp examples/letter.json . && cp examples/letter.pdf work/");
        await deployment.follow("cp letter.json work/");
        await deployment.follow(
          "docker compose run --rm cli send-postal --input letter.json --id order-7",
        );
        await deployment.cli("result order-7 --expect delivered");
        await deployment.follow(
          "docker compose run --rm cli evidence order-7 --out evidence/order-7",
        );
        const manifest = "work/evidence/order-7/manifest.json";
        const { files } = JSON.parse(
          await readFile(join(deployment.world.checkout, manifest), "utf8"),
        );
        expect(files.length).toBeGreaterThan(1);
      },
      LIMIT_MS,
    );
  },
  { isInstalled: TEST_ENGINE !== "" },
);
