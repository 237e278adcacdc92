// What the certificate service says of an assertion and of its type: 237 and 239 are an answer, which the process waits with for a fresh
// assertion; 244 stops the calls of that type alone (P1 §7.1; docs/reading-the-specification.md §5, §9).
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCertificateActivities } from "../../../src/activities/disposable-certificate/index.js";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { assertionInput } from "../../processes/issue-certificate/inputs.js";
import { accountAt } from "../../providers/disposable-certificate/account.js";
import { answering, startProviderServer } from "../../providers/provider-server.js";
import type { ProviderServer } from "../../providers/provider-server.js";
import { depsWithoutRows, inAttempt } from "../attempts.js";

/** What the service answers, by the type of the assertion. */
let codes: Record<string, number>;
let server: ProviderServer;
beforeEach(async () => {
  codes = {};
  server = await startProviderServer((request, ...rest) => {
    const [, type = ""] = /"eIDType":"(\w+)"/.exec(request.text) ?? [];
    const code = codes[type];
    const good = request.path.includes("/check") ? "" : { certIdOtp: 1, deviceCode: "d" };
    const answer = code === undefined ? good : { code, message: "m" };
    answering(answer, code === undefined ? 200 : 500)(request, ...rest);
  });
});
afterEach(() => server.close());

function service() {
  const deps = depsWithoutRows(accountAt(server.url), {
    ...{ patienceMs: 1, unavailableForMs: 60_000 },
    secrets: { open: (text: string) => text, seal: (text: string) => text },
    circuits: new Circuits({ probeMs: 600_000, failures: 2 }),
  });
  const activities = createCertificateActivities(deps);
  return (operation: "checkData" | "enroll", id: string, eIDType: string) => {
    const given = structuredClone(assertionInput(id, new Date()));
    const input = {
      ...given,
      eidAssertionHolder: { ...(given as any).eidAssertionHolder, eIDType },
    };
    const call = { input, assertion: undefined, mode: "quick" as const };
    const work = () =>
      operation === "checkData"
        ? activities.checkData(call)
        : activities.enroll({ ...call, effect: { step: "enroll", occurrence: "0" } });
    const workflowExecution = { workflowId: `issueCertificate/${id}`, runId: "r" };
    return inAttempt<unknown>(work, { namespace: "default", workflowExecution });
  };
}

test.each(["checkData", "enroll"] as const)(
  "%s: 244 is about the eID type, and one that the LRA may use is not held up",
  async (operation) => {
    codes = { OTHER: 244 };
    const asks = service();
    for (const id of ["one", "two", "three"])
      await expect(asks(operation, id, "OTHER")).rejects.toMatchObject({ type: "accessDenied" });
    // For the third one the service was not asked.
    expect(server.received).toHaveLength(2);
    await asks(operation, "good", "EIDVENDOR");
    expect(server.received).toHaveLength(3);
  },
);

test.each(["checkData", "enroll"] as const)(
  "%s: an assertion that is expired or invalid is an answer, and nothing else is one",
  async (operation) => {
    codes = { OLD: 237, WRONG: 239, BAD: 242 };
    const asks = service();
    expect(await asks(operation, "old", "OLD")).toEqual({ refused: "expired", code: "237" });
    expect(await asks(operation, "wrong", "WRONG")).toEqual({ refused: "invalid", code: "239" });
    await expect(asks(operation, "bad", "BAD")).rejects.toMatchObject({ type: "invalidRequest" });
  },
);
