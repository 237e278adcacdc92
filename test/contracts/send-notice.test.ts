// What the contract of `sendNotice` takes and refuses, each with the field named (P2 §2.6, §6.2, §8).
import { expect, test } from "vitest";
import { SendNoticeInput } from "../../src/contracts/send-notice/contract.js";
import { checkInput } from "../../src/contracts/shared/problems.js";

const input = { subject: "Subject", body: "<p>Body</p>", recipientAddress: "ada@example.com" };
const document = { base64: "AAAA", mediaType: "text/plain" };
const attachment = { fileName: "a.txt", document };
const challenge = {
  evidenceAccessControlMethod: "Challenge",
  evidenceAccessControlChallenge: "Where?",
  evidenceAccessControlChallengeResponse: "Here",
};
const paired = { affidavitKinds: ["ContentDownload"], enforceTrackingUntilTimeToLive: true };

test.each<[string, object]>([
  ["the least there is", {}],
  ["a mobile number", { recipientAddress: "+34600000000" }],
  ["the shortest time to live", { timeToLive: 60 }],
  ["the longest time to live", { timeToLive: 86_400 }],
  ["tracked downloads with their affidavit", paired],
  ["neither of the pair", { affidavitKinds: ["Closed"], enforceTrackingUntilTimeToLive: false }],
  ["a challenge", challenge],
  ["a level of a country", { certificationLevel: "QERDS_ES" }],
  ["a level of a region", { certificationLevel: "Standard_LATAM" }],
  ["a level of a region with more", { certificationLevel: "Advanced_MX" }],
  ["two attachments", { attachments: [attachment, { ...attachment, fileName: "b.txt" }] }],
  ["a field that is not shown", { providerFields: { NotificationChannel: "Email" } }],
])("%s is taken", (_, more) => {
  expect(SendNoticeInput.parse({ ...input, ...more })).toEqual({ ...input, ...more });
});

test.each<[string, object]>([
  ["subject", { subject: "" }],
  ["body", { body: undefined }],
  ["recipientAddress", { recipientAddress: "ada" }],
  ["recipientAddress", { recipientAddress: "600000000" }],
  ["timeToLive", { timeToLive: 59 }],
  ["timeToLive", { timeToLive: 86_401 }],
  ["enforceTrackingUntilTimeToLive", { affidavitKinds: ["ContentDownload"] }],
  ["affidavitKinds", { enforceTrackingUntilTimeToLive: true }],
  ["affidavitKinds", { ...paired, affidavitKinds: ["Closed"] }],
  ["affidavitKinds.0", { affidavitKinds: ["Opened"] }],
  ["evidenceAccessControlChallenge", { ...challenge, evidenceAccessControlChallenge: undefined }],
  [
    "evidenceAccessControlChallengeResponse",
    { ...challenge, evidenceAccessControlChallengeResponse: undefined },
  ],
  ["certificationLevel", { certificationLevel: "Simple" }],
  ["deliverySignMethod", { deliverySignMethod: "Pin" }],
  ["commitmentChoice", { commitmentChoice: "Yes" }],
  ["attachments.1.fileName", { attachments: [attachment, attachment] }],
  ["attachments.0.fileName", { attachments: [{ ...attachment, fileName: "../a.txt" }] }],
  ["providerFields.Subject", { providerFields: { Subject: "another" } }],
  ["providerFields.PushNotificationUrl", { providerFields: { PushNotificationUrl: "https://a" } }],
  ["pushNotificationUrl", { pushNotificationUrl: "https://example.com" }],
  ["pushNotificationFilter", { pushNotificationFilter: ["Read"] }],
  ["pushNotificationExtraData", { pushNotificationExtraData: "x" }],
])("%s is named", (path, more) => {
  const { fields } = checkInput(SendNoticeInput, { ...input, ...more });
  expect(fields.map((field) => field.path)).toEqual([path]);
});
