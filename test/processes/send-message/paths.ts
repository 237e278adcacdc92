// The ways through `sendMessage` whose histories differ (P1 §1.3, 4.3).
import type { SendMessageInput } from "../../../src/client.js";
import {
  attentionOf,
  cancelledWhile,
  decided,
  ends,
  endsAs,
  freeFields,
  isAbandoned,
  isAbandonedWith,
  notAccepted,
  refusesInput,
  start,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";

const doubted = decided(begin, "unknownOutcome");
const cancelled = cancelledWhile(denied);

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
    "not-accepted": notAccepted(begin, "send=reject-400", "messaging-gateway"),
    "unanswered-happened": doubted("send=cut-after-commit", "happened", endsAs("accepted")),
    "unanswered-retried": doubted("send=cut", "retry", endsAs("accepted")),
    "unanswered-abandoned": doubted("send=cut-after-commit", "abandon", isAbandonedWith("unknown")),
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
function message(writing: Writing, words = ""): SendMessageInput {
  return {
    providerFields: {
      clientReference: writing.intent,
      to: "+34600000000",
      text: "Your certificate is ready",
      data: freeFields(writing),
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
