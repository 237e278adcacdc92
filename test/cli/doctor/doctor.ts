// `trustflow doctor --json` as a test reads it.
import { expect } from "vitest";
import { once } from "node:events";
import { type Server, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { Checked } from "../../../src/cli/doctor/check.js";
import { type FindingName, findings } from "../../../src/cli/doctor/findings.js";
import { eventually } from "../../harness/outages/wait.js";
import { commandLine } from "../in-process.js";
import { trustflow } from "../run.js";

export interface Report {
  code: number | null;
  stdout: string;
  checks: Checked[];
}

export async function doctor(env: Record<string, string>): Promise<Report> {
  // A process of its own where Node reads a variable as it starts.
  const run = Object.keys(env).some((name) => name.startsWith("NODE_")) ? trustflow : commandLine;
  const { code, stdout, stderr } = await run(["doctor", "--json"], { env });
  expect(stderr).toBe("");
  const { checks } = JSON.parse(stdout) as { checks: Checked[] };
  return { code, stdout, checks };
}

/** Where every server is there: asked again while a busy machine was too slow for one of the checks. */
export function doctorOfAll(env: Record<string, string>): Promise<Report> {
  return eventually("doctor checks everything", async () => {
    const report = await doctor(env);
    return !report.checks.some(({ finding }) => finding === "notChecked") && report;
  });
}

/** The check has the finding, with the state and the remedy that go with it. */
export function expectFinding(
  { code, checks }: Report,
  check: string,
  finding: FindingName,
  detail: string | RegExp = "",
): void {
  const said = checks.find((one) => one.check === check);
  expect(said).toEqual({ check, finding, ...findings[finding], detail: said?.detail });
  expect(said?.detail).toMatch(detail);
  expect(code).toBe(checks.some(({ state }) => state === "fail") ? 4 : 0);
}

/** A port of this machine without a server. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, "close");
  return port;
}

export async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
