// A scenario of the demo: it starts a process, plays its persons, and states the expected outcome.
import type { AnyHandle, Trustflow } from "trustflow-client";
import type { ProcessName } from "trustflow/internal/contracts/registry.js";
import { pdf, type SandboxControl } from "trustflow-sandbox";
import type { Progress } from "../processes/tools.js";
import type { Stack } from "../stack/stack.js";

export interface ScenarioContext {
  client: Trustflow;
  stack: Stack;
  sandbox: SandboxControl;
  progress: Progress;
}

export interface Scenario {
  process: ProcessName;
  /** The business id. */
  name: string;
  title: string;
  expected: string;
  /** The operation that the sandbox's ledger must have once for the intent. */
  effect: string;
  /** Starts the process; `meanwhile` is what its persons do. */
  play(
    stage: ScenarioContext,
    intent: string,
  ): Promise<{ handle: AnyHandle; meanwhile?: Promise<void> | undefined }>;
}

/** Days of the provider pass in seconds, so ours are seconds too. */
export const settings = { pollIntervalSeconds: 5, askIntervalSeconds: 1 };
export const windowedSettings = { ...settings, affidavitWindowSeconds: 4 };

export const recipientAddress = {
  streetAddress: "Calle Mayor 1",
  postalCode: "28013",
  locality: "Madrid",
  region: "Madrid",
  country: "ES",
};

export function putPdf({ documents }: Trustflow, ...lines: string[]) {
  const text = ["Trustflow demonstration", ...lines];
  return documents.put(pdf(text), "application/pdf");
}
