// What `npm create trustflow` refuses, before it writes anything. test/long/package/registry.test.ts makes an application.
import { afterAll, expect, test } from "vitest";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const program = resolve("packages/create/src/create.js");
const folder = mkdtempSync(join(tmpdir(), "trustflow-create-"));
mkdirSync(join(folder, "full"));
writeFileSync(join(folder, "full", "file"), "");

afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [[], "Name the new folder"],
  [["my-app", "--template"], "Name the new folder"],
  [["My App"], '"My App" cannot be the name of a package'],
  [["full"], "full exists and is not empty"],
  [["full/file"], "full/file is a file"],
])("%j is refused", (args, message) => {
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) });
  expect(readdirSync(folder)).toEqual(["full"]);
});

test("the way into the new folder is printed as a shell takes it", () => {
  const { stdout } = spawnSync(process.execPath, [program, "full/it's $HOME/app"], {
    cwd: folder,
    encoding: "utf8",
    // In place of a package manager.
    env: { ...process.env, npm_config_user_agent: "true/1" },
  });
  expect(stdout).toContain(String.raw`
  cd 'full/it'\''s $HOME/app'
`);
});
