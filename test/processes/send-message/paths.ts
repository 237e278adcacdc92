// Every way through `sendMessage` (P1 §1.3, 4.3).
import { expect } from "vitest";
import type { SendMessageInput } from "../../../src/client.js";
import type { Decision } from "../../../src/contracts/shared/messages.js";
import {
  attentionOf,
  decide,
  ends,
  isAbandoned,
  refusesInput,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { PathsOf, PathRun, Writing } from "../../harness/histories/path-run.js";

export const sendMessagePaths: PathsOf = {
  process: "sendMessage",
  activities: ["send", "decide", "checkDecision"],
  speed: 1,
  accounts: ["access-mended", "cancelled-while-denied", "cancel-withdrawn", "still-in-attention"],
  kept: ["providerFields.sandbox"],
  inputs: { message: (writing) => message(writing) },
  paths: {
    async accepted(run) {
      await ends(await begin(run), "accepted");
    },
    async "not-accepted"(run) {
      const handle = await begin(run, "send=reject-400");
      await expect(handle.result()).rejects.toMatchObject({
        details: { provider: "messaging-gateway" },
      });
    },
    async "unanswered-happened"(run) {
      const handle = await begin(run, "send=cut-after-commit");
      await decide(run, handle, "unknownOutcome", "happened");
      await ends(handle, "accepted");
    },
    async "unanswered-retried"(run) {
      const handle = await begin(run, "send=cut");
      await decide(run, handle, "unknownOutcome", "retry");
      await ends(handle, "accepted");
    },
    async "unanswered-abandoned"(run) {
      const handle = await begin(run, "send=cut-after-commit");
      await decide(run, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "unknown");
    },
    async "access-mended"(run) {
      const { handle, mend } = await denied(run);
      await mend();
      await ends(handle, "accepted");
    },
    async "cancelled-while-denied"(run) {
      const { handle } = await cancelled(run, "abandon");
      await isAbandoned(handle, "none");
    },
    async "cancel-withdrawn"(run) {
      const { handle, mend } = await cancelled(run, "retry");
      await mend();
      await ends(handle, "accepted");
    },
    "invalid-input": (run) => refusesInput(run, { providerFields: {} }),
    async "still-in-attention"(run) {
      await denied(run);
    },
  },
};

/** Whatever a gateway may want, nested as it likes. */
function message({ author, intent }: Writing, words = ""): SendMessageInput {
  const person = { name: "Ada", addresses: ["Calle Mayor 1", { floor: "first" }] };
  return {
    providerFields: {
      clientReference: intent,
      to: "+34600000000",
      text: "Your certificate is ready",
      data: { person, [author.words("a member")]: "whatever it is" },
      ...(words === "" ? {} : { sandbox: words }),
    },
  };
}

function begin(run: PathRun, words = "", more: Partial<SendMessageInput> = {}) {
  return start(run, "sendMessage", { ...message(run, words), ...more });
}

/** The path's own account has a role that may not send, until that is fixed (P1 §7.2). */
export async function denied(run: PathRun) {
  const { system, account } = run;
  await system.sandbox.putAccount(account, { roles: ["TEMPLATE_ADMIN"] });
  const handle = await begin(run, "", { account });
  await attentionOf(handle, "accessDenied");
  return { handle, mend: () => system.sandbox.putAccount(account, { roles: ["USER"] }) };
}

/** Cancelled in the Web UI while it waits, and what a person makes of it. */
async function cancelled(run: PathRun, decision: Decision) {
  const waiting = await denied(run);
  await temporalHandle(run).cancel();
  await decide(run, waiting.handle, "cancelRequested", decision);
  return waiting;
}
