// The linter enforces the import table of the design, and where the clock may be read: each rule is broken here once, on files of
// a throwaway folder. Which rooms a rule names is compared with the page (test/docs/architecture.test.ts); what it lets through,
// the lint of the whole tree uses.
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../harness/temporary.js";

interface Diagnostic {
  code: string;
  filename: string;
}

type Line = readonly [file: string, code: string];

const value = (from: string): string => `import { x } from "${from}";\n`;
const type = (from: string): string => `import type { X } from "${from}";\n`;

const refused: Line[] = [
  ["src/callbacks/relay/relay.ts", value("../../temporal/connection.js")],
  ["src/workflows/send-postal/workflow.ts", type("../../batch/items/items.js")],
  ["src/contracts/shared/values.ts", value("../../providers/errors/provider-error.js")],
  ["src/contracts/shared/values.ts", value("node:crypto")],
  ["src/contracts/shared/values.ts", value("@temporalio/workflow")],
  ["src/contracts/shared/messages.ts", value("zod")],
  ["src/contracts/shared/messages.ts", value("@temporalio/workflow")],
  ["src/contracts/shared/define.ts", value("@temporalio/common")],
  ["src/contracts/definition/message-contract.ts", value("@temporalio/common")],
  ["src/contracts/shared/messages.ts", type("../send-postal/messages.js")],
  ["src/contracts/shared/status.ts", value("../registry.js")],
  ["src/contracts/send-postal/process.ts", value("../../config/config.js")],
  ["src/contracts/send-postal/messages.ts", value("zod")],
  ["src/contracts/send-postal/messages.ts", value("./contract.js")],
  ["src/contracts/shared/failures.ts", value("zod")],
  ["src/contracts/shared/decisions.ts", value("zod")],
  ["src/contracts/shared/text.ts", value("zod")],
  ["src/contracts/shared/names.ts", value("zod/mini")],
  ["src/workflows/send-postal/workflow.ts", "export const x = Date.now();\n"],
  ["src/workflows/runtime/tracking.ts", "export const x = new Date();\n"],
  [
    "src/workflows/runtime/status.ts",
    'import { setCurrentDetails } from "@temporalio/workflow";\n',
  ],
  [
    "src/workflows/send-notice/workflow.ts",
    'import { proxyActivities } from "@temporalio/workflow";\n',
  ],
  [
    "src/workflows/serve-notice/workflow.ts",
    'import { startChild } from "@temporalio/workflow";\n',
  ],
  ["src/workflows/send-postal/workflow.ts", value("zod")],
  ["src/workflows/send-postal/workflow.ts", value("../../contracts/send-postal/contract.js")],
  ["src/workflows/send-postal/workflow.ts", value("../../activities/evi-post/index.js")],
  ["src/workflows/send-postal/workflow.ts", value("node:crypto")],
  ["src/workflows/send-postal/workflow.ts", value("@temporalio/client")],
  ["src/workflows/send-postal/workflow.ts", value("@temporalio/common")],
  ["src/activities/evi-post/index.ts", value("got")],
  ["src/activities/evi-post/index.ts", value("zod")],
  ["src/activities/evi-post/index.ts", value("../../workflows/send-postal/workflow.js")],
  ["src/activities/evi-post/index.ts", value("@temporalio/client")],
  ["src/activities/queues.ts", value("../config/config.js")],
  ["src/providers/http/exchange.ts", value("@temporalio/common")],
  ["src/providers/http/client-certificate.ts", value("node-forge")],
  ["src/providers/http/exchange.ts", value("../evi-post/client.js")],
  ["src/providers/evi-post/client.ts", value("../evi-notice/client.js")],
  ["src/providers/evi-post/client.ts", value("../../config/config.js")],
  ["src/providers/evi-post/client.ts", value("../../contracts/shared/messages.js")],
  ["src/providers/evi-post/client.ts", value("../../config/fields.js")],
  ["src/callbacks/inbox/inbox.ts", value("../../activities/evi-post/index.js")],
  ["src/callbacks/inbox/inbox.ts", value("fastify")],
  ["src/callbacks/relay/relay.ts", value("prom-client")],
  ["src/callbacks/receiver/receiver.ts", value("../../temporal/connection.js")],
  ["src/journal/journal.ts", value("../contracts/shared/values.js")],
  ["src/journal/journal.ts", value("zod")],
  ["src/documents/store.ts", value("@temporalio/common")],
  ["src/documents/store.ts", value("../config/config.js")],
  ["src/documents/store.ts", value("../contracts/shared/values.js")],
  ["src/batch/recipients/preflight.ts", value("../../contracts/send-notice/contract.js")],
  ["src/batch/recipients/preflight.ts", value("../../documents/store.js")],
  ["src/batch/recipients/preflight.ts", value("zod")],
  ["src/contracts/shared/recipient-address.ts", value("zod")],
  ["src/postgres/pool.ts", value("../crypto/hmac.js")],
  ["src/postgres/pool.ts", value("zod")],
  ["src/crypto/hmac.ts", value("../postgres/pool.js")],
  ["src/crypto/hmac.ts", value("pg")],
  ["src/temporal/codec/codec.ts", value("../../providers/errors/provider-error.js")],
  ["src/client.ts", value("./callbacks/inbox/inbox.js")],
  ["src/client.ts", type("./workflows/send-postal/workflow.js")],
  ["packages/sandbox/src/sandbox.ts", value("../../../src/providers/errors/provider-error.js")],
  ["packages/sandbox/src/sandbox.ts", type("trustflow-client/contracts")],
  ["packages/sandbox/src/sandbox.ts", value("zod")],
  ["src/config/fields.ts", value("../providers/effect-classes.js")],
  ["src/config/config.ts", type("../providers/accounts.js")],
  ["src/providers/registry.ts", value("./evi-post/client.js")],
  ["src/providers/registry.ts", 'export const x = await import("./evi-post/client.js");\n'],
  ["src/providers/effect-classes.ts", value("./evi-post/index.js")],
  ["src/providers/evi-post/account.ts", value("../../config/config.js")],
  ["src/providers/evi-post/account.ts", value("got")],
  ["src/roles/relay.ts", value("../cli/output/exit.js")],
  ["src/roles/relay.ts", value("commander")],
  ["src/worker.ts", value("node-forge")],
  ["src/cli/role.ts", value("trustflow-dev")],
  ["src/worker.ts", value("trustflow-client")],
  ["src/client.ts", value("./cleanup/orphans.js")],
];

const rules = new Set(["eslint(no-restricted-imports)", "eslint(no-restricted-globals)"]);

let folder = "";
const reported = new Set<string>();

/** Each line in a tree of its own, so that a finding belongs to one line. */
const pathOf = (index: number, file: string): string => join(String(index), file);

beforeAll(async () => {
  folder = await temporaryFolder();
  const text = await readFile(resolve(".oxlintrc.json"), "utf8");
  // The paths are the same below each tree; types are not looked at.
  const config = JSON.parse(text) as { options: unknown; overrides: { files: string[] }[] };
  config.options = {};
  for (const override of config.overrides) override.files = override.files.map((at) => `*/${at}`);
  await writeFile(join(folder, ".oxlintrc.json"), JSON.stringify(config));
  for (const [index, [file, code]] of refused.entries()) {
    const path = join(folder, pathOf(index, file));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, code);
  }
  const diagnostics = await lint();
  for (const { code, filename } of diagnostics) {
    if (rules.has(code)) reported.add(filename);
  }
});

async function lint(): Promise<Diagnostic[]> {
  const stdout = await new Promise<string>((done) => {
    const args = ["--format", "json", "."];
    execFile(resolve("node_modules/.bin/oxlint"), args, { cwd: folder }, (_red, out) => done(out));
  });
  return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics;
}

test.each(refused.map(([file, code], index) => ({ index, file, code: code.trim() })))(
  "$file may not say: $code",
  ({ index, file }) => {
    expect(reported.has(pathOf(index, file))).toBe(true);
  },
);
