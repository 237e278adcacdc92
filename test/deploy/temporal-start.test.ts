// deploy/temporal/start.sh in a container that cannot change its files. The image is not here: two programs of its names say what
// they were given.
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { root } from "./compose-file.js";
import { temporaryFolder } from "../harness/temporary.js";

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  for (const name of ["bin", "home/config", "secrets"])
    await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, "secrets/database_temporal"), "pass'word\n");
  await writeFile(join(folder, "home/config/config_template.yaml"), "template\n");
  await program("temporal-server", 'echo "$POSTGRES_PWD" "$@"; ls "$2/config"');
});

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(folder, "bin", name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, "bin", name), 0o755);
}

async function start(): Promise<string[]> {
  const { stdout } = await promisify(execFile)("sh", [`${root}deploy/temporal/start.sh`], {
    env: {
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      TEMPORAL_HOME: join(folder, "home"),
      SECRETS_DIRECTORY: join(folder, "secrets"),
      ROOT_DIRECTORY: join(folder, "root"),
    },
  });
  return stdout.trim().split("\n");
}

test("the configuration is written beside the image's, also at a restart, and the password is in the environment", async () => {
  await program("dockerize", 'cp "${2%%:*}" "${2#*:}"');
  for (let times = 0; times < 2; times += 1)
    expect(await start()).toEqual([
      `pass'word --root ${join(folder, "root")} --env docker start`,
      "config_template.yaml",
      "docker.yaml",
    ]);
  expect(await readdir(join(folder, "home/config"))).toEqual(["config_template.yaml"]);
});

test("an image without the template program brings the configuration itself", async () => {
  await writeFile(join(folder, "home/config/docker.yaml"), "# enable-template\n");
  expect((await start()).slice(1)).toEqual(["config_template.yaml", "docker.yaml"]);
});
