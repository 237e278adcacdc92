// What the contracts of `issueCredential` and `presentCredential` take and refuse, each with the field named (P1 §1.6, 2.11, 4.6;
// docs/design.md §13).
import { describe, expect, test } from "vitest";
import { IssueCredentialInput } from "../../src/contracts/issue-credential/contract.js";
import { PresentCredentialInput } from "../../src/contracts/present-credential/contract.js";
import { checkInput } from "../../src/contracts/shared/problems.js";

const created = { providerFields: { name: "Example", nested: [null, { deep: 1 }] } };
const existing = { id: "0c9f1a52-6f0b-4d0e-9c3a-2f1b7a8e4d10" };
const init = { providerFields: { holder: "h1" } };

describe("issueCredential", () => {
  test.each<[string, object]>([
    ["all of it created", { operator: created, template: created, service: created, init }],
    [
      "no operator: that a service belongs to one is not shown",
      { template: created, service: created, init },
    ],
    ["an existing template", { template: existing, service: created, init }],
    ["all of it existing", { operator: existing, template: existing, service: existing, init }],
    [
      "an id that is a name of another kind",
      { template: { id: "https://wallet.example/t#1" }, service: created },
    ],
    ["a service named as in a decentralised system", { service: { id: "did:ex:1;v=2" }, init }],
    [
      "empty fields: what they need is not shown",
      { template: { providerFields: {} }, service: created },
    ],
  ])("%s is taken", (_, given) => {
    expect(IssueCredentialInput.parse(given)).toEqual(given);
  });

  test.each<[string, object]>([
    ["service", { template: created, init }],
    ["service.providerFields", { template: created, service: {}, init }],
    ["service.providerFields", { service: { ...created, ...existing }, init }],
    ["template", { service: created, init }],
    ["template", { template: created, service: existing, init }],
    ["operator", { operator: created, service: existing, init }],
    ["init", { service: existing }],
    ["service.id", { service: { id: ".." }, init }],
    ["service.id", { service: { id: "a/b" }, init }],
    ["service.id", { service: { id: "a?b" }, init }],
    ["service.id", { service: { id: "s".repeat(201) }, init }],
    ["template.id", { template: { id: "two words" }, service: created, init }],
    ["operator.id", { operator: { id: "é" }, template: created, service: created, init }],
    ["service.id", { service: { id: "" }, init }],
    ["init.providerFields", { service: existing, init: { providerFields: [] } }],
    [
      "verificationTemplate",
      { template: created, service: created, verificationTemplate: created },
    ],
  ])("%s is refused in %j", (path, given) => {
    expect(pathsOf(IssueCredentialInput, given)).toEqual([path]);
  });
});

describe("presentCredential", () => {
  const whole = {
    operator: created,
    template: created,
    verificationTemplate: created,
    service: created,
    init,
  };
  const { template: _, ...withoutTemplate } = whole;
  test.each<[string, object]>([
    ["all of it created", whole],
    ["an existing operator and template", { ...whole, operator: existing, template: existing }],
    ["an existing verification template", { ...withoutTemplate, verificationTemplate: existing }],
    [
      "all of it existing",
      {
        operator: existing,
        template: existing,
        verificationTemplate: existing,
        service: existing,
        init,
      },
    ],
    [
      "a service that is linked to more",
      { ...whole, alsoLinked: { operatorIds: ["o2"], verificationTemplateIds: ["v2", "v3"] } },
    ],
    ["no flow", { ...whole, init: undefined }],
  ])("%s is taken", (_, given) => {
    expect(PresentCredentialInput.parse(given)).toEqual(given);
  });

  test.each<[string[], object]>([
    [["template"], withoutTemplate],
    [["template"], { ...whole, verificationTemplate: existing }],
    [["alsoLinked"], { service: existing, init, alsoLinked: { operatorIds: ["o2"] } }],
    [["alsoLinked.operatorIds.0"], { ...whole, alsoLinked: { operatorIds: ["a b"] } }],
    [["operator", "verificationTemplate"], { service: created, init }],
    [["init"], { service: existing }],
    [["operator", "template", "verificationTemplate"], { ...whole, service: existing }],
  ])("%j is refused", (paths, given) => {
    expect(pathsOf(PresentCredentialInput, given).toSorted()).toEqual(paths);
  });
});

function pathsOf(schema: Parameters<typeof checkInput>[0], given: object): string[] {
  return checkInput(schema, given).fields.map(({ path }) => path);
}
