// A command loads no role, and a role loads its server after it has checked what it needs: both are quick to start, and to fail.
import { expect, test } from "vitest";
import { loadedWith, packagesIn } from "../harness/loaded-with.js";

const roles = ["worker", "receiver", "relay", "codec-server"].map((name) => `src/roles/${name}.ts`);
/** What serves and what calls. */
const late = ["@temporalio/worker", "@temporalio/client", "fastify", "got", "pg", "prom-client"];
/** Temporal's messages, which take as long to load as all the rest of a command. */
const tooMuch = [...late, "@temporalio/common", "@temporalio/proto"];

test("the command line loads no role, and nothing that only one command needs", () => {
  const loaded = loadedWith("src/cli/program.ts");
  expect([...roles, "src/worker.ts"].filter((path) => loaded.has(path))).toEqual([]);
  expect(packagesIn(loaded).filter((name) => tooMuch.includes(name))).toEqual([]);
});

test.each(["packages/dev/src/cli.ts", "packages/sandbox/src/cli/sandbox.ts"])(
  "the commands of %s load nothing of what serves and calls, because every command of the program loads them",
  (path) => {
    expect(packagesIn(loadedWith(path)).filter((name) => tooMuch.includes(name))).toEqual([]);
  },
);

test.each(roles)("%s loads its server when it starts it", (path) => {
  const loaded = loadedWith(path);
  expect(loaded).not.toContain("src/worker.ts");
  expect(packagesIn(loaded).filter((name) => late.includes(name))).toEqual([]);
});

test.each([...roles, "src/worker.ts"])(
  "%s loads OpenTelemetry's export only if it is asked for",
  (path) => {
    const exporting = packagesIn(loadedWith(path)).filter((name) =>
      name.startsWith("@opentelemetry/"),
    );
    expect(exporting.filter((name) => name !== "@opentelemetry/api")).toEqual([]);
  },
);
