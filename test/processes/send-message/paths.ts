// The ways through `sendMessage` whose histories differ (P1 §1.3, 4.3).
import type { SendMessageInput } from "../../../src/client.js";
import {
  attentionOf,
  decided,
  endsAs,
  freeFields,
  isAbandonedWith,
  notAccepted,
  start,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { cancelled, mended, waysOf } from "../ways.js";

const doubted = decided(begin, "unknownOutcome");
const { through } = waysOf(begin);

export const sendMessagePaths: PathsOf = {
  process: "sendMessage",
  speed: 1,
  accounts: ["access-mended", "cancelled-while-denied", "cancel-withdrawn"],
  kept: ["providerFields.sandbox"],
  inputs: { message: (writing) => message(writing) },
  paths: {
    accepted: through("accepted"),
    "not-accepted": notAccepted(begin, "send=reject-400", "messaging-gateway"),
    "unanswered-happened": doubted("send=cut-after-commit", "happened", endsAs("accepted")),
    "unanswered-retried": doubted("send=cut", "retry", endsAs("accepted")),
    "unanswered-abandoned": doubted("send=cut-after-commit", "abandon", isAbandonedWith("unknown")),
    "access-mended": mended(denied, endsAs("accepted")),
    "cancelled-while-denied": cancelled(denied)("abandon", isAbandonedWith("none")),
    "cancel-withdrawn": cancelled(denied)("retry", endsAs("accepted")),
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

function begin(run: PathRun, words?: string, more?: Partial<SendMessageInput>) {
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
