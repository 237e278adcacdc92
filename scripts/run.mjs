#!/usr/bin/env node
// What `npm run build`, `bench`, `demo`, `verify`, `nightly` and those of the tests start. Needs nothing but Node: it installs what is missing,
// builds what has changed, then runs. Only the command itself writes to stdout.

// 20.19.3 is the first release of 20 whose HTTP server knows the verb QUERY (P2 §4.3).
const [major = 0, minor = 0, patch = 0] = process.versions.node.split(".").map(Number);
const isKnown20 = major === 20 && (minor > 19 || (minor === 19 && patch >= 3));
if (!(isKnown20 || (major === 24 && minor >= 11))) {
  console.error(
    `Trustflow is tested with Node 20.19.3+ and 24.11+; this is ${process.versions.node}.`,
  );
  process.exit(1);
}

const [command = "", ...args] = process.argv.slice(2);
const commands = {
  build: async () => 0,
  bench: async () => (await import("./bench.mjs")).bench(args),
  demo: async () => (await import("./demo.mjs")).demo(args),
  test: async () => (await import("./test.mjs")).test(args),
  "test:lts": async () => (await import("./test.mjs")).testLts(args),
  "test:long": async () => (await import("./test.mjs")).testLong(args),
  "test:compose": async () => (await import("./test.mjs")).testCompose(args),
  "test:cluster": async () => (await import("./test.mjs")).testCluster(args),
  verify: async () => (await import("./verify.mjs")).verify(),
  nightly: async () => (await import("./verify.mjs")).verify({ isNightly: true }),
};

if (!Object.hasOwn(commands, command)) {
  console.error(`usage: node scripts/run.mjs ${Object.keys(commands).join("|")} [arguments]`);
  process.exit(2);
}

const { ensureInstalled } = await import("./install.mjs");
const { runBuild } = await import("./steps.mjs");
// They build as one of their steps, after those that are quicker to fail.
const ready =
  (await ensureInstalled()) && (["verify", "nightly"].includes(command) || (await runBuild()));
process.exitCode = ready ? await commands[/** @type {keyof typeof commands} */ (command)]() : 1;
