// Credentials of a wallet on the whole system: what is created once and shared, and what a person decides (P1 §1.6, 2.11, 4.6;
// docs/reading-the-specification.md §0, §7).
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { InputMismatchError, NotAcceptedError } from "../../../../src/client.js";
import type { HandleOf } from "../../../../src/client.js";
import type { Attention } from "../../../../src/contracts/shared/status.js";
import { DocumentNotFound } from "../../../../src/documents/errors.js";
import { trustflow } from "../../../cli/run.js";
import { issuanceInput } from "../../../processes/issue-credential/inputs.js";
import { presentationInput } from "../../../processes/present-credential/inputs.js";
import { historyOf, startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: 1 });
}, 120_000);
afterAll(() => system?.close(), 60_000);
afterEach(() => system.sandbox.clearFaults());

const effectsOf = async (intent: string) =>
  Object.fromEntries(
    Object.entries(await system.effects(intent)).map(([name, count]) => [
      name.replace("credential-wallet.", ""),
      count,
    ]),
  );

type Handle = HandleOf<"issueCredential"> | HandleOf<"presentCredential">;
const askedOf = async (handle: Handle): Promise<Attention> =>
  (await statusWhere(handle, ({ attention }) => attention !== undefined)).attention!;

test("an issuance creates what it needs, and starts the flow with its ids", async () => {
  const handle = await system.client.issueCredential("whole", issuanceInput("whole"));
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: "initiated", documents: [{ kind: "answer" }] });
  expect(Object.keys(result.references)).toEqual(["operatorId", "templateId", "issuanceServiceId"]);
  expect(result.timeline.map(({ event }) => event)).toEqual(
    expect.arrayContaining(["Created the wallet's operator", "Started the flow"]),
  );
  const service = await system.sandbox.item(result.references["issuanceServiceId"]!);
  expect(service["links"]).toEqual([result.references["templateId"]]);
});

test("a presentation links its service to the operator and to the verification template", async () => {
  const handle = await system.client.presentCredential("shown", presentationInput("shown"));
  const { references, outcome } = await handle.result();
  expect(outcome).toBe("initiated");
  const { operatorId, templateId, verificationTemplateId, verificationServiceId } = references;
  const service = await system.sandbox.item(verificationServiceId!);
  expect(service["links"]).toEqual([verificationTemplateId, operatorId]);
  const verification = await system.sandbox.item(verificationTemplateId!);
  expect(verification["links"]).toEqual([templateId]);

  const more = await system.client.presentCredential("more", {
    ...presentationInput("more"),
    operator: { id: operatorId! },
    alsoLinked: { operatorIds: [operatorId!], verificationTemplateIds: [verificationTemplateId!] },
  });
  const linked = (await more.result()).references;
  const second = await system.sandbox.item(linked["verificationServiceId"]!);
  expect(second["links"]).toEqual([
    linked["verificationTemplateId"],
    verificationTemplateId,
    operatorId,
  ]);
});

test("a service is set up once, and many processes start flows of it", async () => {
  const { init: _, ...setUp } = issuanceInput("desk");
  const first = await (await system.client.issueCredential("desk", setUp)).result();
  expect(first).toMatchObject({ outcome: "setUp", dates: {} });
  const service = { id: first.references["issuanceServiceId"]! };
  for (const id of ["member-1", "member-2"]) {
    const init = { providerFields: { reference: id } };
    const handle = await system.client.issueCredential(id, { service, init });
    expect((await handle.result()).references).toEqual({ issuanceServiceId: service.id });
    expect(await effectsOf(id)).toEqual({ initIssuance: 1 });
  }
  expect(await effectsOf("desk")).toEqual({
    createOperator: 1,
    createTemplate: 1,
    createIssuanceService: 1,
  });
});

test("a refusal of the first creation fails the process; of a later one it asks a person", async () => {
  const refused = await system.client.issueCredential(
    "first",
    issuanceInput("first", "createOperator=reject-400"),
  );
  await expect(refused.result()).rejects.toBeInstanceOf(NotAcceptedError);
  const later = await system.client.issueCredential(
    "later",
    issuanceInput("later", "createIssuanceService=reject-400"),
  );
  const attention = await askedOf(later);
  expect(attention).toMatchObject({ kind: "protocol", step: "createIssuanceService" });
  await later.resolve({ attention: attention.id, decision: "retry", by: "Ada" });
  expect((await later.result()).outcome).toBe("initiated");
});

test("a better request is a new process, which is given the ids of what exists", async () => {
  const words = "createIssuanceService=reject-400*";
  const handle = await system.client.issueCredential("again", issuanceInput("again", words));
  const attention = await askedOf(handle);
  await handle.resolve({ attention: attention.id, decision: "abandon", by: "Ada" });
  await expect(handle.result()).rejects.toMatchObject({ details: { effect: "exists" } });
  const { references } = await handle.status();
  const better = issuanceInput("better");
  const mixed = { ...issuanceInput("again", words), service: better.service };
  const same = await system.client.issueCredential("again", mixed);
  await expect(same.result()).rejects.toThrow(InputMismatchError);

  const second = await system.client.issueCredential("better", {
    ...better,
    operator: { id: references["operatorId"]! },
    template: { id: references["templateId"]! },
  });
  expect(await second.result()).toMatchObject({ outcome: "initiated", references });
  expect(await effectsOf("again")).toEqual({ createOperator: 1, createTemplate: 1 });
  expect(await effectsOf("better")).toEqual({ createIssuanceService: 1, initIssuance: 1 });
});

test("a member that the process sets itself is refused before anything is created", async () => {
  const service = { providerFields: { reference: "own", Credential_Template: "mine" } };
  const handle = await system.client.issueCredential("own", { ...issuanceInput("own"), service });
  await expect(handle.result()).rejects.toMatchObject({
    fields: [{ path: "service.providerFields.Credential_Template" }],
  });
  expect(await effectsOf("own")).toEqual({});
});

test.each([
  ["issuance", () => system.client.issueCredential("offer", issuanceInput("offer"))],
  ["presentation", () => system.client.presentCredential("offer", presentationInput("offer"))],
] as const)(
  "where the holder goes on (%s) is in a sealed document alone, which an erasure removes",
  async (path, start) => {
    const handle = await start();
    const result = await handle.result();
    const [{ document } = {}] = result.documents;
    const { url } = JSON.parse(String(await system.client.documents.get(document!))) as {
      url: string;
    };
    expect(url).toContain(`https://wallet.sandbox.invalid/${path}`);
    const history = await historyOf(system, handle.workflowId);
    expect(JSON.stringify([result, await handle.status(), history])).not.toContain(url);
    const { code } = await trustflow(["erase", handle.workflowId, "--by", "Ada"], {
      env: system.stack.env,
    });
    expect(code).toBe(0);
    await expect(system.client.documents.get(document!)).rejects.toThrow(DocumentNotFound);
  },
);

test("a token in an answer is neither in the result nor in the history", async () => {
  const input = issuanceInput("token", "with-token");
  const handle = await system.client.issueCredential("token", input);
  const result = await handle.result();
  const token = `${result.references["operatorId"]!.replaceAll("-", "")}-token`;
  const history = await historyOf(system, "issueCredential/token");
  expect(JSON.stringify([result, await handle.status(), history])).not.toContain(token);
});
