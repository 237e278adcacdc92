// Every way through `sendMessage` (P1 §1.3, 4.3).
import { expect } from "@jest/globals";
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
} from "../../harness/histories/walk.js";
import type { PathsOf, Walk, Writing } from "../../harness/histories/walk.js";

export const sendMessagePaths: PathsOf = {
  process: "sendMessage",
  activities: ["send", "decide", "checkDecision"],
  speed: 1,
  accounts: ["access-mended", "cancelled-while-denied", "cancel-withdrawn", "still-in-attention"],
  kept: ["providerFields.sandbox"],
  inputs: { message: (writing) => message(writing) },
  paths: {
    async accepted(walk) {
      await ends(await begin(walk), "accepted");
    },
    async "not-accepted"(walk) {
      const handle = await begin(walk, "send=reject-400");
      await expect(handle.result()).rejects.toMatchObject({ provider: "messaging-gateway" });
    },
    async "unanswered-happened"(walk) {
      const handle = await begin(walk, "send=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "happened");
      await ends(handle, "accepted");
    },
    async "unanswered-retried"(walk) {
      const handle = await begin(walk, "send=cut");
      await decide(walk, handle, "unknownOutcome", "retry");
      await ends(handle, "accepted");
    },
    async "unanswered-abandoned"(walk) {
      const handle = await begin(walk, "send=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "unknown");
    },
    async "access-mended"(walk) {
      const { handle, mend } = await denied(walk);
      await mend();
      await ends(handle, "accepted");
    },
    async "cancelled-while-denied"(walk) {
      const { handle } = await cancelled(walk, "abandon");
      await isAbandoned(handle, "none");
    },
    async "cancel-withdrawn"(walk) {
      const { handle, mend } = await cancelled(walk, "retry");
      await mend();
      await ends(handle, "accepted");
    },
    "invalid-input": (walk) => refusesInput(walk, { providerFields: {} }),
    async "still-in-attention"(walk) {
      await denied(walk);
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

function begin(walk: Walk, words = "", more: Partial<SendMessageInput> = {}) {
  return start(walk, "sendMessage", { ...message(walk, words), ...more });
}

/** The path's own account has a role that may not send, until that is mended (P1 §7.2). */
export async function denied(walk: Walk) {
  const { system, account } = walk;
  await system.sandbox.putAccount(account, { roles: ["TEMPLATE_ADMIN"] });
  const handle = await begin(walk, "", { account });
  await attentionOf(handle, "accessDenied");
  return { handle, mend: () => system.sandbox.putAccount(account, { roles: ["USER"] }) };
}

/** Cancelled in the Web UI while it waits, and what a person makes of it. */
async function cancelled(walk: Walk, decision: Decision) {
  const waiting = await denied(walk);
  await temporalHandle(walk).cancel();
  await decide(walk, waiting.handle, "cancelRequested", decision);
  return waiting;
}
