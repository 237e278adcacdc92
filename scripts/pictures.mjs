#!/usr/bin/env node
// Takes the pictures of README.md anew: a process in the Web UI, and a session in the terminal. Needs Chromium on the PATH. Look at
// what it made: docs/pictures.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { ensureInstalled } from "./install.mjs";
import { root, runBuild } from "./steps.mjs";

const run = promisify(execFile);
const PROMPT = "$ npx trustflow ";
/** The Web UI loads, asks the codec server, and draws. */
const DRAWN_MS = 8_000;

/**
 * Speaks Chromium's DevTools protocol over its pipe: messages that end with a zero byte.
 * @param {string} url
 * @param {string} name
 * @param {[width: number, height: number]} size
 */
async function picture(url, name, [width, height]) {
  const browser = spawn(
    "chromium",
    ["--headless", "--no-sandbox", "--hide-scrollbars", "--remote-debugging-pipe"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const [, , , to, from] = browser.stdio;
  /** @type {Map<number, (result: any) => void>} */
  const waiting = new Map();
  let rest = "";
  from?.on("data", (chunk) => {
    const messages = (rest + chunk).split("\0");
    rest = messages.pop() ?? "";
    for (const { id, result } of messages.map((text) => JSON.parse(text)))
      waiting.get(id)?.(result);
  });
  /** @type {(method: string, params: object, sessionId?: string) => Promise<any>} */
  const ask = (method, params, sessionId) =>
    new Promise((resolve) => {
      const id = waiting.size;
      waiting.set(id, resolve);
      const text = JSON.stringify({ id, method, params, sessionId });
      /** @type {import("node:stream").Writable} */ (to).write(`${text}\0`);
    });
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
  const screen = { width, height, deviceScaleFactor: 1, mobile: false };
  await ask("Emulation.setDeviceMetricsOverride", screen, sessionId);
  await ask("Page.navigate", { url }, sessionId);
  await delay(DRAWN_MS);
  const { data } = await ask("Page.captureScreenshot", {}, sessionId);
  await writeFile(join(root, "docs/pictures", name), Buffer.from(data, "base64"));
  browser.kill();
}

/** @param {string} text */
const asHtml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
const { Trustflow } = await import("trustflow-dev");
const folder = await mkdtemp(join(tmpdir(), "trustflow-pictures-"));
const trustflow = await Trustflow.embedded();
try {
  // The paths are those that the pages show.
  await symlink(join(root, "examples"), join(folder, "examples"));
  const cli = join(root, "dist/cli.js");
  const env = { ...process.env, ...trustflow.env };
  let session = "";
  for (const command of [
    "send-postal --input examples/letter.json --id order-7 --watch",
    "evidence order-7 --out evidence/order-7",
    "list",
  ]) {
    const { stdout } = await run("node", [cli, ...command.split(" ")], { cwd: folder, env });
    session += `${PROMPT}${command}\n${stdout}\n`;
  }
  const page = join(folder, "terminal.html");
  const style =
    "margin:0;min-height:100vh;padding:16px;background:#111;color:#eee;font:14px/1.4 DejaVu Sans Mono";
  const shown = asHtml(session.trimEnd());
  await writeFile(
    page,
    `<meta charset="utf-8"><body style="margin:0"><pre style="${style}">${shown}</pre>`,
  );
  await picture(`file://${page}`, "terminal.png", [1180, 20 * session.split("\n").length + 24]);

  await trustflow.sandbox.setSpeed("manual");
  await run("node", [cli, "send-postal", "--input", "examples/letter.json", "--id", "order-8"], {
    cwd: folder,
    env,
  });
  const letter = trustflow.handle("sendPostal/order-8");
  while ((await letter.status()).phase !== "tracking") await delay(200);
  await trustflow.sandbox.advance(86_400_000);
  await delay(2_000);
  const { namespace } = trustflow.temporal.options;
  const { runId } = await trustflow.temporal.workflow.getHandle(letter.workflowId).describe();
  const place = `namespaces/${namespace}/workflows/${encodeURIComponent(letter.workflowId)}/${runId}`;
  await picture(`${trustflow.temporalUi}/${place}/user-metadata`, "web-ui.png", [1280, 900]);
} finally {
  await trustflow.close();
  await rm(folder, { recursive: true });
}
