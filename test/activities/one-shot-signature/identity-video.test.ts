// A decision on an identity video whose answer was lost: the provider is asked before another one is sent, and no update of the video is
// sent twice (P1 §1.4; docs/reading-the-specification.md §0).
import { expect, test } from "vitest";
import * as oneShot from "../../../src/providers/one-shot-signature/client.js";
import { videoInput } from "../../processes/sign-one-shot/inputs.js";
import { openBench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const bench = ofFile(openBench);

type Decision = "approve" | "cancel";

/** Its video is uploaded, and waits for a decision. */
async function filmed(intent: string, words = "") {
  const { run, call, created } = bench;
  const { plan, request } = await created(intent, videoInput(intent, words));
  const { evidences: files, video: file } = plan.identityVideo!;
  const step = (name: string) => ({ ...call(name), ...request });
  await run(intent, (all) => all.createVideo({ ...step("createVideo"), fields: {} }));
  await run(intent, (all) => all.uploadEvidences({ ...step("uploadEvidences"), files }));
  await run(intent, (all) => all.uploadVideo({ ...step("uploadVideo"), file }));
  let decisions = 0;
  return {
    request,
    /** An update of its own. */
    decide: async (decision: Decision) => {
      const { effect } = call(decision, `update-${(decisions += 1)}`);
      const given = { ...request, effect, decision };
      return (await run(intent, (all) => all.decideVideo(given))).answer;
    },
    update: async (fields: object, occurrence: string) => {
      const given = { ...request, ...call("updateVideo", occurrence), fields };
      return (await run(intent, (all) => all.updateVideo(given))).answer;
    },
    fields: async () => {
      const { identityVideo } = await bench.control.item(request.requestPk);
      return (identityVideo as { fields: unknown }).fields;
    },
  };
}

const decisions = [
  ["approve", "approveIdentityVideo", "approved"],
  ["cancel", "cancelIdentityVideo", "cancelled"],
] as const;

test.each(decisions)(
  "%s that never arrived (%s) is sent again once nothing can come of the first one, and then it is %s",
  async (decision, operation, state) => {
    const intent = `${decision}-lost`;
    const { decide } = await filmed(intent, `${operation}=cut`);
    expect(await decide(decision)).toBe("unknown");
    // The provider may still be at it, as long as the lease runs.
    expect(await decide(decision)).toBe("unknown");
    expect(bench.count(intent, operation)).toBe(0);
    await bench.endLeases();
    expect(await decide(decision)).toBe(state);
    expect(bench.count(intent, operation)).toBe(1);
  },
);

test.each(decisions)(
  "%s that arrived without an answer (%s) is followed by none while the video is not shown; then each is %s",
  async (decision, operation, state) => {
    const intent = `${decision}-unasked`;
    const { decide } = await filmed(intent, `${operation}=cut-after-commit`);
    const lookUp = { operation: "one-shot-signature.getIdentityVideo", lookupKey: intent };
    const away = bench.sandbox.faults.add({
      ...lookUp,
      kind: "reject",
      status: 400,
      times: "always",
    });
    expect(await decide(decision)).toBe("unknown");
    const before = await Promise.all(decisions.map(([, one]) => bench.requests(one)));
    for (const one of ["approve", "cancel"] as const) expect(await decide(one)).toBe("unknown");
    expect(await Promise.all(decisions.map(([, one]) => bench.requests(one)))).toEqual(before);
    bench.sandbox.faults.remove(away.id);
    for (const one of ["approve", "cancel"] as const) expect(await decide(one)).toBe(state);
    expect(bench.count(intent, operation)).toBe(1);
  },
);

test("after a decision without an answer, a video that was approved meanwhile is what it shows, and nothing is sent (P1 §1.4)", async () => {
  const { request, decide } = await filmed("shown", "approveIdentityVideo=cut");
  expect(await decide("approve")).toBe("unknown");
  await oneShot.approveVideo(bench.account, request);
  for (const one of ["cancel", "approve"] as const) expect(await decide(one)).toBe("approved");
  expect(bench.count("shown", "approveIdentityVideo")).toBe(1);
  expect(bench.count("shown", "cancelIdentityVideo")).toBe(0);
});

test("the request of a video is changed, once for one update, also without an answer (P1 §1.4)", async () => {
  const { update, fields } = await filmed("updated", "updateIdentityVideo=cut-after-commit@2");
  for (const _ of ["once", "again"]) expect(await update({ room: 2 }, "one")).toBe("updated");
  expect(await fields()).toMatchObject({ room: 2 });
  for (const _ of ["once", "again"]) expect(await update({ room: 3 }, "two")).toBe("unknown");
  expect(bench.count("updated", "updateIdentityVideo")).toBe(2);
});

test("an update that the provider refuses changes nothing", async () => {
  const { update } = await filmed("refused", "updateIdentityVideo=reject-400");
  expect(await update({ room: 2 }, "one")).toBe("refused");
  expect(bench.count("refused", "updateIdentityVideo")).toBe(0);
});
