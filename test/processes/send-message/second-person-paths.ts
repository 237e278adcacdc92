// Ways through `sendMessage` where a decision needs two operators (docs/design.md §6). On their stack every decision has to be
// signed, so it is another one than that of the other paths.
import { expect } from "vitest";
import { randomUUID } from "node:crypto";
import type { Decision, ResolveAnswer } from "../../../src/contracts/shared/messages.js";
import { signDecision } from "../../../src/crypto/decision-signature.js";
import { denied, sendMessagePaths } from "./paths.js";
import {
  attentionOf,
  decidedBy,
  ends,
  idOf,
  isAbandoned,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { PathsOf, PathRun } from "../../harness/histories/path-run.js";
import { Operators } from "../../harness/stack/operators.js";
import { statusWhere } from "../../harness/stack/stack.js";

const operators = new Operators("ana", "ben");

export const secondPersonEnv = {
  ...operators.env,
  TRUSTFLOW_DECISIONS__SIGNED: "required",
  TRUSTFLOW_DECISIONS__SECOND_PERSON: "abandon",
};

export const secondPersonPaths: PathsOf = {
  ...sendMessagePaths,
  accounts: ["proposed-confirmed", "proposed-replaced", "proposed-mended"],
  paths: {
    async "proposed-confirmed"(run) {
      const { handle, attention } = await proposed(run);
      expect(await decideAs("ben", run, attention, "abandon")).toBe("resolved");
      await isAbandoned(handle, "none");
    },
    async "proposed-replaced"(run) {
      const { handle, attention, mend } = await proposed(run);
      expect(await decideAs("ben", run, attention, "retry")).toBe("resolved");
      // It meets the same refusal.
      await statusWhere(
        handle,
        ({ attention: next }) => next !== undefined && next.id !== attention,
      );
      await mend();
      await ends(handle, "accepted");
    },
    // The attention ends by itself, and the proposal with it.
    async "proposed-mended"(run) {
      const { handle, mend } = await proposed(run);
      await mend();
      await ends(handle, "accepted");
    },
  },
};

/** Ana proposes to give a message up whose account is refused. */
async function proposed(run: PathRun) {
  const waiting = await denied(run);
  const attention = await attentionOf(waiting.handle, "accessDenied");
  expect(await decideAs("ana", run, attention, "abandon")).toBe("pending");
  return { ...waiting, attention };
}

/** The answer to a decision that this operator has signed. */
async function decideAs(
  operator: string,
  run: PathRun,
  attention: string,
  decision: Decision,
): Promise<string> {
  const updateId = randomUUID();
  const argument = { ...decidedBy(run), attention, decision };
  const at = new Date().toISOString();
  const value = signDecision(operators.privateKey(operator), {
    namespace: "default",
    workflowId: idOf(run),
    update: "resolve",
    updateId,
    operator,
    at,
    argument,
  });
  const signed = { ...argument, signature: { operator, at, value } };
  const { answer } = await temporalHandle(run).executeUpdate<ResolveAnswer, [object]>("resolve", {
    updateId,
    args: [signed],
  });
  return answer;
}
