// What `serveNotice` does for its two processes before they start, in the place of a client (docs/decisions/0031).
import { expect, onTestFinished, test } from "vitest";
import {
  createServeNoticeActivities,
  createServePostActivities,
} from "../../../src/activities/serve-notice/index.js";
import { comparedInput } from "../../../src/contracts/definition/secret-fields.js";
import { SendNoticeInput } from "../../../src/contracts/send-notice/contract.js";
import { isSealed } from "../../../src/contracts/shared/sealed-secret.js";
import { canonicalJson } from "../../../src/crypto/json-digest.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { contentOf } from "../../../src/documents/content.js";
import { openStore } from "../../harness/documents/open-store.js";
import { ofFile } from "../../harness/of-file.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { WorkerSecrets } from "../../../src/temporal/codec/secrets.js";
import { withAttachment } from "../../processes/send-notice/inputs.js";
import { fastSettings, serveInput } from "../../processes/serve-notice/inputs.js";
import { inAttempt } from "../attempts.js";

const namespace = "default";
const parentKey = { namespace, workflowId: "serveNotice/order-1" };
const noticeKey = { namespace, workflowId: "sendNotice/order-1.notice" };
const postKey = { namespace, workflowId: "sendPostal/order-1.post" };

const store = ofFile(openStore);
const secrets = new WorkerSecrets(KeyRing.parse(generateBoxRing().privateRing));
const owned: { workflowId: string; kind: string }[] = [];

/** The process that may have had an effect. */
let begun: string | undefined;

function activities(siteHasRegion = true, destinationCountries = ["ES"]) {
  const deps = {
    environmentOf: () => "sandbox",
    accounts: { default: { name: "default", siteHasRegion, destinationCountries } },
    journal: {
      addOwner: async ({ workflowId }: typeof parentKey, all: { kind: string }[]) =>
        void owned.push(...all.map(({ kind }) => ({ workflowId, kind }))),
      mayHaveEffect: async ({ workflowId }: typeof parentKey) => workflowId === begun,
    },
    digests: { of: canonicalJson, same: () => true },
    documents: store.documents,
    secrets,
    patienceMs: 1,
    unavailableForMs: 1_000,
    defaults: {
      sendPostal: { deadlineSeconds: 77 },
      serveNotice: { deadlineSeconds: 1_000, lookIntervalSeconds: 300 },
    },
  } as never;
  return { ...createServeNoticeActivities(deps), ...createServePostActivities(deps) };
}

type Activities = ReturnType<typeof activities>;
function attempt<R>(
  call: (all: Activities) => Promise<R>,
  { workflowId = parentKey.workflowId, siteHasRegion = true, countries = ["ES"] } = {},
): Promise<R> {
  const info = { namespace, workflowExecution: { workflowId, runId: "r" } } as never;
  return inAttempt(() => call(activities(siteHasRegion, countries)), info);
}

const good = serveInput("order-1", "read");
const mode = "quick" as const;

test("the notice gets its own settings, the account and a digest that a client's start would have", async () => {
  const input = { ...good, account: "default", settings: { ...fastSettings, deadlineSeconds: 5 } };
  const prepared = await attempt((all) => all.prepareNotice({ input, mode }));
  const child = { ...good.notice, account: "default", settings: fastSettings.notice };
  expect(prepared).toMatchObject({
    input: child,
    servedWhen: "read",
    settings: { deadlineSeconds: 5, lookIntervalSeconds: 1 },
  });
  expect(prepared.digest).toBe(canonicalJson(comparedInput(SendNoticeInput, child, contentOf)));
});

test("documents become references that the parent owns, and each child can read", async () => {
  owned.length = 0;
  const notice = { ...good.notice, attachments: [withAttachment()] };
  const input = { ...good, notice };
  const first = await attempt((all) => all.prepareNotice({ input, mode }));
  const second = await attempt((all) => all.preparePost({ input, mode }));
  const uri = expect.stringMatching(/^document:/);
  expect(first.input).toMatchObject({ attachments: [{ document: { uri } }] });
  expect(second).toMatchObject({ input: { document: { uri } }, deadlineSeconds: 77 });
  expect(new Set(owned.map(({ workflowId }) => workflowId))).toEqual(
    new Set([parentKey.workflowId]),
  );
  const { document } = second.input;
  await expect(store.documents.take(document as never, postKey)).resolves.toBeDefined();
});

test("a secret that was sealed for the parent is sealed for the child, and opens nowhere else", async () => {
  const challenge = {
    evidenceAccessControlMethod: "Challenge",
    evidenceAccessControlChallenge: "The dog",
    evidenceAccessControlChallengeResponse: secrets.seal("Rex", parentKey),
  };
  const input = {
    ...good,
    notice: { ...good.notice, ...challenge },
    post: { ...good.post, options: challenge },
  };
  const first = await attempt((all) => all.prepareNotice({ input, mode }));
  const second = await attempt((all) => all.preparePost({ input, mode }));
  const response = (of: object) => (of as typeof challenge).evidenceAccessControlChallengeResponse;
  const ofNotice = response(first.input);
  const ofPost = response((second.input as { options: object }).options);
  expect([ofNotice, ofPost].every(isSealed)).toBe(true);
  expect(secrets.open(ofNotice, noticeKey)).toBe("Rex");
  expect(secrets.open(ofPost, postKey)).toBe("Rex");
  expect(() => secrets.open(ofNotice, postKey)).toThrow();
  // A secret is no part of a digest, which is shown to nobody who may not have it.
  expect(first.digest).not.toContain("Rex");
});

test("a letter that its account cannot send is refused before the notice, with the path in the whole", async () => {
  const refused = attempt((all) => all.preparePost({ input: good, mode }), {
    siteHasRegion: false,
  });
  await expect(refused).rejects.toMatchObject({
    type: "InvalidInput",
    details: [{ fields: [{ path: "post.issuerAddress.region" }] }],
  });
  const text = Buffer.from("no PDF");
  const reference = await store.documents.put(text, "application/pdf");
  const input = { ...good, post: { ...good.post, document: reference } };
  await expect(attempt((all) => all.preparePost({ input, mode }))).rejects.toMatchObject({
    details: [{ fields: [{ path: "post.document", problem: "is not a PDF" }] }],
  });
});

test.each([noticeKey, postKey])(
  "once %o may have been sent, it is followed whatever the account allows by now",
  async ({ workflowId }) => {
    begun = workflowId;
    onTestFinished(() => void (begun = undefined));
    const prepared = attempt((all) => all.preparePost({ input: good, mode }), {
      siteHasRegion: false,
    });
    await expect(prepared).resolves.toMatchObject({ digest: expect.any(String) });
  },
);

test("a letter goes where the account delivers, which is Spain by default (P2 §1, §8)", async () => {
  const { recipientAddress, ...post } = good.post;
  const input = {
    ...good,
    post: { ...post, recipientAddress: { ...recipientAddress, country: "PT" } },
  };
  const prepare = (countries?: string[]) =>
    attempt((all) => all.preparePost({ input, mode }), { ...(countries && { countries }) });
  await expect(prepare()).rejects.toMatchObject({
    type: "InvalidInput",
    details: [{ fields: [{ path: "post.recipientAddress.country" }] }],
  });
  await expect(prepare(["ES", "PT"])).resolves.toMatchObject({ digest: expect.any(String) });
});

test("an id without room for the child's is refused, and one whose child was erased", async () => {
  const workflowId = `serveNotice/${"x".repeat(94)}`;
  const long = attempt((all) => all.prepareNotice({ input: good, mode }), { workflowId });
  await expect(long).rejects.toMatchObject({ details: [{ fields: [{ path: "id" }] }] });
  const erased = { namespace, workflowId: "sendPostal/gone.post" };
  await store.documents.dataKeys.of(erased);
  await store.documents.dataKeys.erase(erased);
  const gone = attempt((all) => all.preparePost({ input: good, mode }), {
    workflowId: "serveNotice/gone",
  });
  await expect(gone).rejects.toMatchObject({
    details: [{ fields: [{ path: "id", problem: "was erased: use another id" }] }],
  });
});
