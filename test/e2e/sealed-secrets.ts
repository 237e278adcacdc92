// A person who can decode payloads sees no secret: our client seals them, and the codec server masks those of plain clients
// (docs/design.md §8).
import { beforeAll, expect, test } from "vitest";
import type { Payload } from "@temporalio/common";
import { InputMismatchError } from "../../src/client.js";
import { parsePayloads, writePayloads } from "../../src/temporal/codec/payload-json.js";
import { codeFor, holderInput } from "../processes/issue-certificate/inputs.js";
import { decoded } from "../harness/histories/decoded.js";
import { plainClient } from "../harness/stack/plain-client.js";
import type { TestStack } from "../harness/stack/stack.js";

function inputOf(id: string, password: string) {
  const input = holderInput(id);
  if (!("disposableCertificate" in input)) throw new Error("another variant");
  const { disposableCertificate } = input;
  return { ...input, disposableCertificate: { ...disposableCertificate, password } };
}

export function testSealedSecrets(stack: () => TestStack): void {
  let system: TestStack;
  beforeAll(() => {
    system = stack();
  });

  async function firstPayloads(workflowId: string): Promise<Payload[]> {
    const { events } = await system.client.temporal.workflow.getHandle(workflowId).fetchHistory();
    return events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  }

  /** As the Web UI asks. */
  async function shown(payloads: Payload[]): Promise<string> {
    const headers = { "content-type": "application/json" };
    const url = `${system.stack.codecUrl}/decode`;
    const answer = await fetch(url, { method: "POST", headers, body: writePayloads(payloads) });
    expect(answer.status).toBe(200);
    const [payload] = parsePayloads(await answer.text());
    return Buffer.from(payload?.data ?? []).toString();
  }

  test("our client's secrets are in no payload, and reach the provider", async () => {
    const input = inputOf("sealed", "canary-password");
    const handle = await system.client.issueCertificate("sealed", input);
    const code = await codeFor(system.sandbox, "sealed");
    expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
    expect((await handle.result()).outcome).toBe("issued");
    for await (const [place, text] of decoded(system, "issueCertificate"))
      expect([place, text]).not.toEqual([place, expect.stringContaining("canary-password")]);
    const text = await shown(await firstPayloads("issueCertificate/sealed"));
    expect(JSON.parse(text)).toMatchObject({ disposableCertificate: { password: "[secret]" } });
    // The secret is no part of what a second start must bring again.
    await system.client.issueCertificate("sealed", inputOf("sealed", "another"));
    const other = { ...input, disposableContacts: { mobile: "+34600000099" } };
    await expect(system.client.issueCertificate("sealed", other)).rejects.toThrow(
      InputMismatchError,
    );
  }, 90_000);

  test("a plain client's secrets in clear are taken, and the codec server hides them", async () => {
    const workflowId = "issueCertificate/in-clear";
    const handle = await plainClient(system, workflowId).workflow.start("issueCertificate", {
      workflowId,
      taskQueue: "trustflow",
      args: [inputOf("in-clear", "canary-clear")],
    });
    const code = await codeFor(system.sandbox, "in-clear");
    const text = await shown(await firstPayloads(workflowId));
    expect(text).toContain("in-clear");
    expect(text).not.toContain("canary-clear");
    expect(await handle.executeUpdate("submitOtp", { args: [{ code }] })).toEqual({
      answer: "accepted",
    });
    expect(await handle.result()).toMatchObject({ outcome: "issued" });
  }, 60_000);
}
