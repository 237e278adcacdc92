// Ways through `sendMessage` where a decision needs two operators (docs/decisions/0024). On their stack every decision has to be
// signed, so it is another one than that of the other paths.
import { expect } from "@jest/globals";
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
  shows,
  temporalHandle,
} from "../../harness/histories/walk.js";
import type { PathsOf, Walk } from "../../harness/histories/walk.js";
import { Operators } from "../../harness/stack/operators.js";

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
    async "proposed-confirmed"(walk) {
      const { handle, attention } = await proposed(walk);
      expect(await decideAs("ben", walk, attention, "abandon")).toBe("resolved");
      await isAbandoned(handle, "none");
    },
    async "proposed-replaced"(walk) {
      const { handle, attention, mend } = await proposed(walk);
      expect(await decideAs("ben", walk, attention, "retry")).toBe("resolved");
      // It meets the same refusal.
      await shows(handle, ({ attention: next }) => next !== undefined && next.id !== attention);
      await mend();
      await ends(handle, "accepted");
    },
    // The attention ends by itself, and the proposal with it.
    async "proposed-mended"(walk) {
      const { handle, mend } = await proposed(walk);
      await mend();
      await ends(handle, "accepted");
    },
  },
};

/** Ana proposes to give a message up whose account is refused. */
async function proposed(walk: Walk) {
  const waiting = await denied(walk);
  const attention = await attentionOf(waiting.handle, "accessDenied");
  expect(await decideAs("ana", walk, attention, "abandon")).toBe("pending");
  return { ...waiting, attention };
}

/** The answer to a decision that this operator has signed. */
async function decideAs(
  operator: string,
  walk: Walk,
  attention: string,
  decision: Decision,
): Promise<string> {
  const updateId = randomUUID();
  const argument = { ...decidedBy(walk), attention, decision };
  const at = new Date().toISOString();
  const value = signDecision(operators.privateKey(operator), {
    namespace: "default",
    workflowId: idOf(walk),
    update: "resolve",
    updateId,
    operator,
    at,
    argument,
  });
  const signed = { ...argument, signature: { operator, at, value } };
  const { answer } = await temporalHandle(walk).executeUpdate<ResolveAnswer, [object]>("resolve", {
    updateId,
    args: [signed],
  });
  return answer;
}
