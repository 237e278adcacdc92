// What a new run of a process knows of earlier runs: it continues what exists, refused data may be corrected, and codes keep
// their count (docs/design.md §2, §6; docs/reading-the-specification.md §5). It also covers codes that the service refuses.
import { beforeAll, expect, test } from "vitest";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { AbandonedError, NotAcceptedError } from "../../../src/client.js";
import { commandLine } from "../../cli/in-process.js";
import { envelopeInput } from "../../processes/sign-envelope/inputs.js";
import { assertionInput, codeFor, holderInput } from "../../processes/issue-certificate/inputs.js";
import { letterPdf } from "../../processes/send-postal/inputs.js";
import { resetToTheStart } from "../../harness/stack/reset.js";
import { statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

/** On a system whose sandbox's clock goes as ours. Last: it makes what is there look old. */
export function testStartedAgain(stack: () => TestStack): void {
  let system: TestStack;
  beforeAll(() => {
    system = stack();
  });

  const effectsOf = async (intent: string) =>
    Object.fromEntries(
      Object.entries(await system.effects(intent)).map(([name, count]) => [
        name.split(".").at(-1),
        count,
      ]),
    );
  const fault = (operation: string, code: number, lookupKey: string) =>
    system.sandbox.addFault({
      operation: `disposable-certificate.${operation}`,
      kind: "code",
      code,
      lookupKey,
      times: "always",
    });
  const waitsForCode = ({ waitingFor }: { waitingFor?: string | undefined }) =>
    waitingFor === "the holder's code";

  test("codes that an earlier run has sent are counted, and none is sent for the new one", async () => {
    const first = await system.client.issueCertificate("counted", holderInput("counted"));
    await codeFor(system.sandbox, "counted");
    expect(await first.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
    const code = await codeFor(system.sandbox, "counted", 1);
    await system.client.temporal.workflow.getHandle(first.workflowId).terminate();

    const handle = await system.client.issueCertificate("counted", holderInput("counted"));
    await statusWhere(handle, waitsForCode);
    expect(await effectsOf("counted")).toEqual({ enroll: 1, sendOtp: 2 });
    expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
    expect(await handle.result()).toMatchObject({ outcome: "issued", otpsSent: 2 });
  });

  test("an enrolment that was refused for its assertion is made with the one of a new run", async () => {
    const settings = { checkData: false, assertionDeadlineSeconds: 1 };
    const old = { ...assertionInput("renewed", new Date(Date.now() - 3_600_000)), settings };
    const refused = await system.client.issueCertificate("renewed", old);
    await expect(refused.result()).rejects.toMatchObject({
      name: "NotAcceptedError",
      details: { providerCode: "237" },
    });

    const fresh = { ...assertionInput("renewed", new Date()), settings };
    const handle = await system.client.issueCertificate("renewed", fresh);
    await handle.submitOtp(await codeFor(system.sandbox, "renewed"));
    expect((await handle.result()).outcome).toBe("issued");
    expect(await effectsOf("renewed")).toMatchObject({ enrollDisposableWitheIDAssertion: 1 });
  });

  test("a new run checks refused data again, also if only a secret of it was corrected (242)", async () => {
    const unchecked = { checkData: false, resendSpacingSeconds: 0 };
    const input = holderInput("mended", "", { settings: unchecked });
    const { id } = await fault("enroll", 242, "mended");
    const refused = await system.client.issueCertificate("mended", input);
    await expect(refused.result()).rejects.toThrow(NotAcceptedError);
    await system.sandbox.removeFault(id);

    if (!("disposableCertificate" in input)) throw new Error("not by data");
    const mended = {
      ...input,
      disposableCertificate: { ...input.disposableCertificate, password: "longer-than-before" },
    };
    const handle = await system.client.issueCertificate("mended", mended);
    await handle.submitOtp(await codeFor(system.sandbox, "mended"));
    expect((await handle.result()).outcome).toBe("issued");
    expect(await effectsOf("mended")).toEqual({ enroll: 1, sendOtp: 1, validate: 1 });
  });

  test("a new run corrects a message that the service refused, and continues the enrolment (242)", async () => {
    const { id } = await fault("sendOtp", 242, "reworded");
    const first = await system.client.issueCertificate("reworded", holderInput("reworded"));
    const { attention } = await statusWhere(first, (status) => status.attention !== undefined);
    await first.resolve({ attention: attention?.id ?? "", decision: "abandon", by: "Ada" });
    await expect(first.result()).rejects.toThrow(AbandonedError);
    await system.sandbox.removeFault(id);

    const other = holderInput("reworded", "", { smsOptions: { textSMS: "Enter $OTP$" } });
    const handle = await system.client.issueCertificate("reworded", other);
    await handle.submitOtp(await codeFor(system.sandbox, "reworded"));
    expect((await handle.result()).outcome).toBe("issued");
    expect(await effectsOf("reworded")).toEqual({ enroll: 1, sendOtp: 1, validate: 1 });
  });

  /** To the end of the very first workflow task; what was asked before comes back. */
  test("codes that come back with a reset are counted once", async () => {
    const handle = await system.client.issueCertificate("recounted", holderInput("recounted"));
    await codeFor(system.sandbox, "recounted");
    expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
    const code = await codeFor(system.sandbox, "recounted", 1);
    await resetToTheStart(system, handle.workflowId);
    await statusWhere(handle, waitsForCode);
    expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
    expect(await handle.result()).toMatchObject({ outcome: "issued", otpsSent: 2 });
    expect(await effectsOf("recounted")).toEqual({ enroll: 1, sendOtp: 2, validate: 1 });
  });

  test("the clean-up believes Temporal's histories, not their absence: a lost owner is written again, and no row goes that a reset needs", async () => {
    const { env } = system.stack;
    const put = (name: string) =>
      system.client.documents.put(Buffer.concat([letterPdf, Buffer.from(name)]), "application/pdf");
    const [used, unused] = [await put("used"), await put("unused")];
    const signed = async (id: string, document: typeof used) => {
      const input = envelopeInput(id);
      input.documents[0]!.document = document;
      const handle = await system.client.signEnvelope(id, input);
      expect((await handle.result()).outcome).toBe("sent");
      return handle;
    };
    const handle = await signed("kept", used);
    // Long ago, and PostgreSQL was restored from a backup since.
    const longAgo = new Date(Date.now() - 40 * 86_400_000);
    for (const { uri } of [used, unused]) {
      const id = uri.slice("document:".length);
      const folder = join(env["TRUSTFLOW_DOCUMENTS__DIRECTORY"] ?? "", id.slice(0, 2));
      await utimes(join(folder, id), longAgo, longAgo);
    }
    await system.pool.query(
      "update trustflow.migrations set applied_at = now() - interval '500 days'",
    );
    await system.pool.query("delete from trustflow.documents where workflow_id = $1", [
      handle.workflowId,
    ]);
    await system.pool.query(
      "update trustflow.effects set updated_at = now() - interval '500 days' where workflow_id = $1",
      [handle.workflowId],
    );
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await commandLine([...args, "--json"], { env });
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      return JSON.parse(stdout) as unknown;
    };
    const expected = { journalRows: 0, documents: { quarantined: 1, removed: 0 } };
    expect(await run("cleanup", "--dry-run")).toMatchObject(expected);
    expect(await run("cleanup")).toMatchObject(expected);
    const owned = await system.pool.query(
      "select kind, 'document:' || id as uri from trustflow.documents where workflow_id = $1",
      [handle.workflowId],
    );
    expect(owned.rows).toEqual([{ kind: "submitted", uri: used.uri }]);
    expect(await run("documents", "quarantine")).toMatchObject([{ uri: unused.uri }]);
    await signed("late", unused);
    expect(await run("documents", "quarantine")).toEqual([]);
  });
}
