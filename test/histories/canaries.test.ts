// The search that the canaries are looked for with, on its own.
import { expect, test } from "vitest";
import { contracts } from "../../src/contracts/index.js";
import { Canaries, found } from "../harness/histories/canaries.js";
import { Needles } from "../harness/histories/needles.js";
import { allPaths } from "../harness/histories/paths.js";

const text = "qwertyuiopasdf";
const around = ["", "x", "xy", "xyz"].map((before) => Buffer.from(`${before}${text}${before}`));

test("a text is found in clear and in each encoding, whatever stands before it", () => {
  for (const bytes of around) {
    const hex = bytes.toString("hex");
    const written: [string, Buffer | string][] = [
      ["clear", bytes],
      ["hex", hex],
      ["hex", hex.toUpperCase()],
      ["base64", bytes.toString("base64")],
      ["base64", bytes.toString("base64url")],
      ["URL", hex.replaceAll(/../g, "%$&")],
      ["UTF-16", Buffer.from(bytes.toString(), "utf16le")],
    ];
    for (const [name, form] of written) expect(found(text, Buffer.from(form))).toEqual([name]);
  }
  expect(found(text, Buffer.from(text.slice(1)))).toEqual([]);
});

test("in one pass each of many texts is found, also where they overlap", () => {
  const texts = [text, text.slice(1), text.slice(0, 5), "never there"];
  const needles = new Needles(texts.map((one): [string, Buffer] => [one, Buffer.from(one)]));
  for (const bytes of around) {
    const at = bytes.indexOf(text);
    expect([...needles.in(bytes)]).toEqual([
      [text, at],
      [text.slice(0, 5), at],
      [text.slice(1), at + 1],
    ]);
  }
});

/** Texts that must be among them. */
const personal: Record<string, string[]> = {
  "issueCertificate data": [
    "disposableHolder.firstName",
    "disposableHolder.lastName",
    "disposableHolder.birthDate",
    "disposableDoc.documentNr",
    "disposableCertificate.password",
    "disposableCertificate.securityCode",
    "disposableContacts.mobile",
    "disposableContacts.email",
    "smsOptions.textSMS",
  ],
  "issueCertificate email": ["disposableContacts.email", "emailOptions.templateId"],
  "issueCertificate assertion": [
    "certificate.password",
    "certificate.securityCode",
    "contacts.mobile",
    "eidAssertionHolder.eIDType",
    "smsOptions.textSMS",
  ],
  "sendMessage message": [
    "providerFields.to",
    "providerFields.text",
    "providerFields.data.person.name",
    "providerFields.data.person.addresses[].floor",
  ],
  "signEnvelope envelope": [
    "request.providerFields.person.name",
    "request.providerFields.person.addresses[].floor",
    "documents[].providerFields.Note",
    "envelope.providerFields.Name",
  ],
  "issueCredential issuance": [
    "init.providerFields.person.name",
    "init.providerFields.person.addresses[].floor",
  ],
  "verifyIdentity call": [
    "alert",
    "alert.emails[]",
    "alert.before[]",
    "asyncRequest.parameters.subject",
    "parameter",
  ],
  "presentCredential presentation": [
    "init.providerFields.person.name",
    "init.providerFields.person.addresses[].floor",
  ],
  "signOneShot classic": [
    "a document",
    "a member",
    "providerFields.mobile",
    "providerFields.person.name",
    "providerFields.person.addresses[].floor",
  ],
  "signOneShot hash": ["a document", "providerFields.person.name"],
  "signOneShot video": [
    "a document",
    "a file of the video",
    "providerFields.person.name",
    "identityVideo.providerFields.operator.name",
  ],
  "sendNotice notice": [
    "subject",
    "body",
    "recipientAddress",
    "recipientLegalName",
    "issuerLegalName",
    "evidenceAccessControlChallenge",
    "evidenceAccessControlChallengeResponse",
  ],
  "sendNoticeBatch batch": ["subject", "body", "replyTo"],
  "serveNotice serve": [
    "notice.subject",
    "notice.body",
    "notice.recipientAddress",
    "notice.evidenceAccessControlChallengeResponse",
    "post.recipientAddress.streetAddress",
    "post.recipientName",
    "post.options.evidenceAccessControlChallengeResponse",
  ],
  "sendPostal letter": [
    "recipientAddress.streetAddress",
    "recipientName",
    "issuerEmail",
    "options.customFields[].value",
    "options.evidenceAccessControlChallengeResponse",
  ],
};

const inputs = allPaths.flatMap((of) =>
  Object.entries(of.inputs).map(([name, input]) => [`${of.process} ${name}`, of, input] as const),
);

test.each(inputs)(
  "%s: a good input with a canary in every text that is free",
  (name, of, input) => {
    const canaries = new Canaries();
    const writing = { author: canaries, intent: canaries.intent("one") };
    const { input: schema } = contracts[of.process];
    const written = canaries.write(schema, input(writing), of.kept);
    expect(schema.safeParse(written).error).toBeUndefined();
    const text = JSON.stringify(written);
    const inside = [...canaries.all].filter(([, canary]) => text.includes(canary));
    expect(inside.map(([of]) => of)).toEqual(expect.arrayContaining(personal[name] ?? [""]));
  },
);
