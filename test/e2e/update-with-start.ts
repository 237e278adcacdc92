// `trustflow.updateWithStart` on the whole system: a process that asks for a code is started, and its first answer comes, in one request;
// what is repeated, lost or refused doubles nothing.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from "@temporalio/client";
import type { ConnectionOptions } from "@temporalio/client";
import {
  FinishedError,
  InputMismatchError,
  InvalidInputError,
  NotAcceptedError,
  Trustflow,
  UnreachableError,
} from "../../src/client.js";
import { status } from "../../src/temporal/grpc-status.js";
import type { TestStack } from "../harness/stack/stack.js";
import { codeFor, holderInput, wrongCode } from "../processes/issue-certificate/inputs.js";

let system: TestStack;
let connection: Connection;
let trustflow: Trustflow;
/** The calls that changed something, in their order. */
let calls: string[] = [];
/** How many answers are lost before one arrives, and whether the SDK asks again by itself. */
let lost = 0;
let isRetried = true;

type Interceptor = NonNullable<ConnectionOptions["interceptors"]>[number];
type Call = ReturnType<Interceptor>;

const watched: Interceptor = (options, next) => {
  const name = options.method_definition.path.split("/").at(-1) ?? "";
  if (/^(Start|Update|ExecuteMulti)/.test(name)) calls.push(name);
  const call = next(options) as Call;
  const start = call.start.bind(call);
  call.start = (metadata, listener) =>
    start(metadata, {
      onReceiveMetadata: (answered) => listener?.onReceiveMetadata?.(answered),
      onReceiveMessage: (message: unknown) => listener?.onReceiveMessage?.(message),
      onReceiveStatus: (ended) => {
        const isLost = name === "ExecuteMultiOperation" && lost > 0;
        if (isLost) lost -= 1;
        listener?.onReceiveStatus?.(isLost ? { ...ended, code: status.unavailable } : ended);
      },
    });
  return call;
};

export function testUpdateWithStart(stack: () => TestStack): void {
  beforeAll(async () => {
    system = stack();
    const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());
    const sometimes: Interceptor = (options, next) =>
      isRetried ? retry(options, next) : (next(options) as Call);
    connection = await Connection.connect({
      address: system.stack.env["TEMPORAL_ADDRESS"] ?? "",
      interceptors: [sometimes, watched],
    });
    trustflow = await Trustflow.connect({ connection });
  });
  afterAll(async () => {
    await trustflow?.close();
    await connection?.close();
  });

  /** Starts the certificate and waits for its code. */
  function begin(id: string, input = holderInput(id), updateId?: string) {
    calls = [];
    return trustflow.updateWithStart("issueCertificate", id, input, (handle) =>
      handle.awaitOtp(updateId),
    );
  }

  const once = { "disposable-certificate.enroll": 1, "disposable-certificate.sendOtp": 1 };

  test("one request starts the process and answers that the code is sent", async () => {
    const memo = { tenant: "a tenant" };
    calls = [];
    const { handle, answer } = await trustflow.updateWithStart(
      "issueCertificate",
      "together",
      holderInput("together"),
      (certificate) => certificate.awaitOtp(),
      { memo, staticSummary: "a summary" },
    );
    expect(calls).toEqual(["ExecuteMultiOperation"]);
    expect(handle.started).toBe("created");
    expect(answer).toEqual({ answer: "sent", triesLeft: 5, resendsLeft: 3 });
    const described = await trustflow.temporal.workflow.getHandle(handle.workflowId).describe();
    expect(described.memo).toMatchObject(memo);
    const code = await codeFor(system.sandbox, "together");
    expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
    expect((await handle.result()).outcome).toBe("issued");
    expect(await system.effects("together")).toMatchObject(once);

    const again = begin("together");
    await expect(again).rejects.toThrow(FinishedError);
    await expect(again).rejects.toMatchObject({ details: { outcome: "issued" } });
  }, 60_000);

  test("a process that is there is joined, and another input is refused before the update", async () => {
    await begin("joined");
    const joined = await begin("joined");
    expect(joined).toMatchObject({ handle: { started: "joined" }, answer: { answer: "sent" } });
    const code = wrongCode(await codeFor(system.sandbox, "joined"));
    const other = holderInput("joined", "", { smsOptions: { textSMS: "Another one: $OTP$" } });
    const first = (input = holderInput("joined")) =>
      trustflow.updateWithStart("issueCertificate", "joined", input, (handle) =>
        handle.submitOtp(code, "try-1"),
      );
    await expect(first(other)).rejects.toThrow(InputMismatchError);
    const answers = [await first(), await first()].map(({ answer }) => answer);
    const wrong = { answer: "wrong", triesLeft: 4 };
    expect(answers).toEqual([wrong, wrong]);
    expect(await system.effects("joined")).toMatchObject(once);
  }, 60_000);

  test("an answer that is lost on the way is fetched again: one process, one code", async () => {
    lost = 1;
    const { handle, answer } = await begin("lost");
    expect(calls).toEqual(["ExecuteMultiOperation", "ExecuteMultiOperation"]);
    // Temporal answers the second request by the update that is there.
    expect([handle.started, answer.answer]).toEqual(["joined", "sent"]);
    lost = 1;
    isRetried = false;
    const broken = begin("broken", holderInput("broken"), "first");
    await expect(broken).rejects.toThrow(UnreachableError);
    await expect(broken).rejects.toMatchObject({ details: { updateId: "first" } });
    // Tried again by the caller's own function.
    lost = 1;
    const tried = await trustflow.updateWithStart(
      "issueCertificate",
      "tried",
      holderInput("tried"),
      (handle) => handle.awaitOtp("first").catch(() => handle.awaitOtp("first")),
    );
    expect([tried.handle.started, tried.answer.answer]).toEqual(["joined", "sent"]);
    isRetried = true;
    const after = await begin("broken", holderInput("broken"), "first");
    expect([after.handle.started, after.answer.answer]).toEqual(["joined", "sent"]);
    const other = holderInput("broken", "", { smsOptions: { textSMS: "Another one: $OTP$" } });
    await expect(begin("broken", other, "first")).rejects.toThrow(InputMismatchError);
    const unheard = trustflow.updateWithStart("issueCertificate", "broken", other, (handle) =>
      handle.awaitOtp().catch(() => undefined),
    );
    // Nothing is said of a start that was refused and whose error nobody has thrown on.
    await expect(unheard).rejects.toThrow("first: must make an update");
    for (const id of ["lost", "broken", "tried"])
      expect(await system.effects(id)).toMatchObject(once);
  }, 120_000);

  test("what is refused before the request starts nothing; a provider's refusal is the result's error", async () => {
    const call = trustflow.updateWithStart(
      "issueCertificate",
      "empty",
      holderInput("empty"),
      (one) => one.submitOtp(" "),
    );
    await expect(call).rejects.toThrow(InvalidInputError);
    const none = trustflow.updateWithStart("issueCertificate", "none", holderInput("none"), () =>
      Promise.resolve(),
    );
    await expect(none).rejects.toThrow("first: must make an update");
    const delayed = { startDelay: "1 hour" } as object;
    const late = trustflow.updateWithStart(
      "issueCertificate",
      "late",
      holderInput("late"),
      (one) => one.awaitOtp(),
      delayed,
    );
    await expect(late).rejects.toThrow("options.startDelay: is not possible");
    for (const id of ["empty", "none", "late"])
      await expect(trustflow.find(id)).rejects.toThrow("Unknown process");

    const refused = await begin("refused", holderInput("refused", "enroll=242"));
    expect(refused.answer).toEqual({ answer: "notAwaited" });
    await expect(refused.handle.result()).rejects.toThrow(NotAcceptedError);
    const { handle } = await begin("refused", holderInput("refused", "enroll=242"));
    expect(handle.started).toBe("created");
  }, 60_000);
}
