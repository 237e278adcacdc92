// The effect classes that P1 and P2 give to operations: what a wrong one would repeat shows in no other test.
import { expect, test } from "vitest";
import type { EffectClass } from "../../src/providers/effect-classes.js";
import { effectClassOf, providers } from "../../src/providers/registry.js";

test("the postal operations have the classes of P2 §4.1", () => {
  expect(effectClassOf("evi-post", "submit")).toBe("keyed");
  expect(effectClassOf("evi-post", "query")).toBe("read");
  expect(effectClassOf("evi-post", "requestAffidavit")).toBe("once");
  expect(effectClassOf("evi-post", "cancel")).toBe("lookup");
  expect(effectClassOf("evi-post", "downloadAffidavits")).toBe("read");
});

test("the notice operations have the classes of P2 §4.2 and §4.3", () => {
  const { effects } = providers["evi-notice"];
  const names = Object.keys(effects) as (keyof typeof effects)[];
  const of = (effectClass: EffectClass) => names.filter((name) => effects[name] === effectClass);
  expect(of("keyed")).toEqual(["submit"]);
  expect(of("once")).toEqual(["requestAffidavit"]);
  expect(of("lookup")).toEqual([
    "createBatch",
    "startBatch",
    "addRecipients",
    "addBatchAttachment",
  ]);
  expect(of("repeatable")).toEqual([
    "updateBatch",
    "deleteBatch",
    "setBatchBody",
    "deleteRecipients",
    "deleteBatchAttachment",
  ]);
  expect(of("read")).toHaveLength(10);
});

test("the operations of video identification have the classes of P1 §4.2", () => {
  expect(providers["video-identification"].effects).toEqual({
    genAPIToken: "read",
    rejectCall: "once",
    getAsyncRequestInfo: "read",
    registerAlertEmail: "repeatable",
    conferenceData: "read",
    getAuditData: "read",
    deleteAuditData: "repeatable",
  });
});
