// What counts as an answer (docs/reading-the-specification.md §1): every operation of every provider meets a web page with 200, an empty
// body and JSON of another shape; of each kind of body one operation meets all else that is no answer, such as a redirect or a wrong media
// type. None of them is a success. A new operation without an entry fails.
import { describe, expect, test } from "vitest";
import { zipSync } from "fflate";
import type { EffectClass } from "../../../src/providers/effect-classes.js";
import type { Operation, Provider } from "../../../src/providers/registry.js";
import { noticeId } from "../evi-notice/account.js";
import { errorOf } from "../evi-post/account.js";
import { operations } from "../operations.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import type { Handler } from "../provider-server.js";
import { jwt } from "../video-identification/account.js";

/** What the specification describes as the body of a success; "JSON or empty" where it shows none. */
type Described = "JSON" | "any JSON object" | "empty" | "JSON or empty" | "file";

interface Entry {
  section: string;
  body: Described;
  /** A success. */
  good: string | Buffer;
  mediaType?: string;
  /** Other bodies that are a success. */
  others?: unknown[];
}

const json = (section: string, good: unknown): Entry => ({
  section,
  body: "JSON",
  good: JSON.stringify(good),
  mediaType: "application/json; charset=utf-8",
});
const object = (section: string): Entry => ({
  section,
  body: "any JSON object",
  good: "{}",
  mediaType: "application/json; charset=utf-8",
  others: [{ other: "shape" }, { error: null, errors: [] }],
});
const empty = (section: string): Entry => ({ section, body: "empty", good: "" });
const anyJson = [{}, { other: "shape" }, { error: null, errors: [] }, [], "text", null];
const open = (section: string, others: unknown[] = anyJson): Entry => ({
  section,
  body: "JSON or empty",
  good: "",
  others,
});
const file = (section: string, mediaType: string, good: Buffer): Entry => ({
  section,
  body: "file",
  good,
  mediaType,
});

const pdf = Buffer.from("%PDF-1.4 a contract");
const uniqueId = "0b6f5d1e-8c1a-4d6c-9a59-1f2a3b4c5d6e";
const enrolled = { certIdOtp: 12_345, deviceCode: "device-code" };

const batch = { BatchId: noticeId, State: "Draft" };
const zipped = Buffer.from(zipSync({ "a.pdf": pdf }));

const entries: { [P in Provider]: Record<Operation<P>, Entry> } = {
  "evi-post": {
    submit: json("P2 §4.1", { uniqueId }),
    query: json("P2 §2.5", { results: [], totalMatches: 0 }),
    requestAffidavit: json("P2 §4.1", { requestId: uniqueId }),
    cancel: json("P2 §4.1", { uniqueId }),
    downloadAffidavits: file("P2 §4.1", "application/zip", zipped),
  },
  "evi-notice": {
    submit: json("P2 §4.2", { Id: uniqueId }),
    get: json("P2 §2.7", { Id: noticeId, State: "Sent" }),
    query: json("P2 §4.2", { Cursor: null, Results: [] }),
    downloadAttachments: file("P2 §4.2", "application/zip", zipped),
    downloadAffidavits: file("P2 §4.2", "application/zip", zipped),
    downloadAffidavit: file("P2 §4.2", "application/pdf", pdf),
    requestAffidavit: json("P2 §4.2", { RequestId: uniqueId }),
    createBatch: json("P2 §4.3", { BatchId: uniqueId }),
    queryBatches: json("P2 §4.3", { Cursor: null, HasMoreResults: false, Results: [] }),
    getBatch: json("P2 §4.3", batch),
    updateBatch: open("P2 §4.3"),
    startBatch: open("P2 §4.3"),
    deleteBatch: empty("P2 §4.3"),
    setBatchBody: open("P2 §4.3"),
    addRecipients: empty("P2 §4.3"),
    queryRecipients: json("P2 §4.3", { Cursor: null, Results: [] }),
    deleteRecipients: empty("P2 §4.3"),
    addBatchAttachment: json("P2 §4.3", { AttachmentId: uniqueId }),
    listBatchAttachments: json("P2 §2.10", []),
    downloadBatchAttachment: file("P2 §4.3", "application/octet-stream", pdf),
    deleteBatchAttachment: empty("P2 §4.3"),
  },
  "disposable-certificate": {
    checkData: open("P1 §4.1"),
    checkDataWitheIDAssertion: empty("P1 §4.1"),
    enroll: json("P1 §2.5", enrolled),
    enrollDisposableWitheIDAssertion: json("P1 §2.5", enrolled),
    sendOtp: empty("P1 §4.1"),
    validate: open("P1 §4.1"),
  },
  "messaging-gateway": { send: open("P1 §4.3") },
  "one-shot-signature": {
    listTokens: open("P1 §4.4"),
    createToken: json("P1 §4.4, assumed", { token: "t" }),
    create: json("P1 §2.9", { request_pk: "r-1" }),
    uploadDocument: open("P1 §4.4"),
    uploadHash: open("P1 §4.4"),
    contract: file("P1 §4.4, assumed", "application/pdf", pdf),
    otp: open("P1 §4.4"),
    sign: json("P1 §4.4, assumed", { state: "signed" }),
    retrieve: json("P1 §4.4, assumed", { state: "created", documents: [] }),
    deleteDocuments: open("P1 §4.4"),
    createVideo: open("P1 §4.4"),
    uploadEvidences: open("P1 §4.4"),
    uploadVideo: open("P1 §4.4"),
    approveVideo: open("P1 §4.4"),
    cancelVideo: open("P1 §4.4"),
    getVideo: json("P1 §4.4, assumed", { state: "created" }),
    updateVideo: open("P1 §4.4"),
  },
  "envelope-signature": {
    esawoneshot: json("P1 §2.10", { req_pk: "r-1", esaw_token: "t" }),
    uploadFile: json("P1 §2.10", { FileId: "f-1" }),
    sendEnvelope: open("P1 §4.5", [{}, { EnvelopeId: 1 }, { other: "shape" }]),
  },
  "credential-wallet": {
    createOperator: json("P1 §2.11, assumed", { id: "o-1" }),
    createTemplate: json("P1 §2.11, assumed", { id: "t-1" }),
    createIssuanceService: json("P1 §2.11", { issuance_service_id: "i-1" }),
    initIssuance: open("P1 §4.6"),
    createVerificationTemplate: json("P1 §2.11, assumed", { id: "v-1" }),
    createPresentationService: json("P1 §2.11", { verification_service_id: "p-1" }),
    initPresentation: open("P1 §4.6"),
  },
  "video-identification": {
    genAPIToken: json("P1 §4.2, assumed", { token: jwt }),
    rejectCall: open("P1 §4.2"),
    getAsyncRequestInfo: object("P1 §2.7"),
    registerAlertEmail: open("P1 §4.2"),
    conferenceData: object("P1 §2.7"),
    getAuditData: file("P1 §2.7, assumed", "application/pdf", pdf),
    deleteAuditData: open("P1 §4.2"),
  },
};

/** What an answer that is none means for each class: nothing for a read, a lost answer for an effect. */
const meanings: Record<EffectClass, string> = {
  read: "protocol none",
  repeatable: "unavailable unknown",
  keyed: "unavailable unknown",
  lookup: "unavailable unknown",
  once: "unknownOutcome unknown",
};

const page =
  "<!DOCTYPE html>\n<html><title>Sign in</title><p>0b6f5d1e-8c1a-4d6c-9a59-1f2a3b4c5d6e</p></html>";
const asPage = { "content-type": "text/html; charset=utf-8" };
const asJson = { "content-type": "application/json" };

interface Broken {
  name: string;
  handler: Handler;
  /** What the error says was wrong. */
  says: string;
}

/** What may be longer than 1 MB beside files: lists, files in JSON (P2 §2.5), and what holds the whole body of a notice. */
const long = new Set([
  "evi-post query",
  "evi-notice get",
  "evi-notice query",
  "evi-notice queryBatches",
  "evi-notice getBatch",
  "evi-notice queryRecipients",
  "evi-notice listBatchAttachments",
  ...["evi-notice updateBatch", "evi-notice startBatch", "evi-notice setBatchBody"],
  "one-shot-signature listTokens",
  "one-shot-signature retrieve",
  "one-shot-signature getVideo",
]);

/** Answers that are none, whatever the operation. */
const always: Broken[] = [
  { name: "a web page", handler: answering(page, 200, asPage), says: "text/html" },
  { name: "a web page without a media type", handler: answering(page), says: "a web page" },
  { name: "a web page called JSON", handler: answering(page, 200, asJson), says: "a web page" },
  ...[300, 301, 302, 303, 307, 308].map((status) => ({
    name: `a redirect ${status}`,
    handler: answering("", status, { location: "/elsewhere" }),
    says: `answered ${status}`,
  })),
];
const noBody: Broken[] = [
  { name: "an empty body", handler: answering("", 200, asJson), says: "without a body" },
  { name: "no content", handler: answering("", 204), says: "answered 204 without a body" },
];
const text: Broken = {
  name: "plain text",
  handler: answering("OK", 200, { "content-type": "text/plain" }),
  says: "text/plain",
};
const noJson: Broken = {
  name: "no JSON",
  handler: answering('{"cut', 200, asJson),
  says: "no JSON",
};
const otherShape = (value: unknown): Broken => ({
  name: `JSON of another shape, ${JSON.stringify(value)}`,
  handler: answering(value, 200, asJson),
  says: "answered 200",
});
const error = otherShape({ error: "the service is in maintenance" });

const errors = [
  { errors: [{ code: 1 }] },
  // P1 §2.8.
  { type: "ForbiddenException", code: 6, message: "the role is missing" },
  { success: false },
];

function brokenFor({ body, good }: Entry): Broken[] {
  switch (body) {
    case "JSON":
      return [
        ...always,
        ...noBody,
        text,
        noJson,
        {
          name: "the right JSON as a web page",
          handler: answering(good, 200, asPage),
          says: "text/html",
        },
        ...[{ other: "shape" }, { results: "none" }, "text", 1, null].map(otherShape),
        error,
      ];
    case "any JSON object":
      return [...always, ...noBody, text, noJson, ...["text", 1, null, []].map(otherShape), error];
    case "empty":
      return [...always, text, ...[{}, { other: "shape" }, "text"].map(otherShape)];
    case "JSON or empty":
      return [...always, text, noJson, error, ...errors.map(otherShape)];
    case "file":
      return [
        ...always,
        error,
        {
          name: "the right file in a content coding",
          handler: answering(good, 200, { "content-encoding": "gzip" }),
          says: "content coding",
        },
      ];
  }
}

/** What every operation meets: it tells the kinds of bodies apart. */
const telling = new Set([
  "a web page",
  "an empty body",
  error.name,
  otherShape({ other: "shape" }).name,
]);

const server = serverOfEachTest();

const described = operations.map(({ name, provider, operation, effectClass, call }) => {
  const entry = (entries[provider] as Record<string, Entry>)[operation];
  if (!entry) throw new Error(`${name} has no entry: what is its answer?`);
  return [name, { entry, effectClass, call: () => call(server.url) }] as const;
});

describe.each(described)("%s", (name, { entry, effectClass, call }) => {
  const { good, mediaType, section, body } = entry;
  const isFirst = described.find(([, of]) => of.entry.body === body)?.[0] === name;
  const cases = brokenFor(entry)
    .filter((broken) => isFirst || telling.has(broken.name))
    .map((broken) => [broken.name, broken] as const);

  test.each(cases)(
    `%s is no answer: ${effectClass}, ${body} (${section})`,
    async (_name, broken) => {
      server.answer = broken.handler;
      const problem = await errorOf(call());
      expect(`${problem.kind} ${problem.effect}`).toBe(meanings[effectClass]);
      expect(problem.problem).toContain(broken.says);
      // An id on the page of a proxy is none of the provider's.
      if (broken.name.startsWith("a web page")) expect(problem.reference).toBeUndefined();
      // A redirect is never followed.
      expect(server.received).toHaveLength(1);
    },
  );

  if (body !== "file")
    test(`more than 1 MB is ${long.has(name) ? "a success too" : "no answer"}`, async () => {
      // An empty answer may be JSON too, or else nothing but spaces.
      const padded = `${" ".repeat(1024 * 1024)}${String(good) || (body === "empty" ? "" : "{}")} `;
      server.answer = answering(padded, 200, asJson);
      if (long.has(name)) return void (await call());
      const problem = await errorOf(call());
      expect(problem.code).toBe("ANSWER_TOO_LARGE");
      expect(`${problem.kind} ${problem.effect}`).toBe(meanings[effectClass]);
    });

  test("what is described is a success", async () => {
    server.answer = answering(
      good,
      200,
      mediaType === undefined ? {} : { "content-type": mediaType },
    );
    await call();
    server.answer = answering(good);
    await call();
    for (const other of entry.others ?? []) {
      server.answer = answering(JSON.stringify(other), 200, asJson);
      await call();
    }
  });
});
