// Onboards a customer: verifies the identity, issues a certificate, has the contract signed, and serves the signed contract.
//
// Each step is a durable process whose id follows from the order. So this program may stop at any moment: the next run for the same
// order joins the processes that exist and starts only those that are missing.
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Trustflow } from "trustflow-client";
import { readCode } from "./telephone.js";

/** In the sandbox a day passes in seconds. With a real provider leave this out: the defaults are meant for days. */
const affidavits = { affidavitWindowSeconds: 5 };
const forSandbox = { lookIntervalSeconds: 1, notice: affidavits, post: affidavits };

async function verifyIdentity(client, { order, conference }) {
  const handle = await client.verifyIdentity(`${order}-identity`, { idConference: conference });
  return ended(handle, ["verified"]);
}

async function issueCertificate(client, customer) {
  const { order, firstName, lastName, birthDate, birthCity, mobile } = customer;
  const handle = await client.issueCertificate(`${order}-certificate`, {
    disposableHolder: {
      firstName,
      lastName,
      birthDate,
      birthCity,
      identificationType: "ITALIAN_TAX_CODE",
      identificationCode: customer.taxCode,
      identificationCountry: "IT",
    },
    disposableDoc: customer.identityCard,
    disposableCertificate: { ...customer.secrets, type: "DISPOSABLE", otpType: "SMS" },
    disposableContacts: { mobile },
    smsOptions: { textSMS: "Your code is $OTP$" },
  });
  await enterCode(handle, () => readCode("disposable-certificate", mobile));
  return ended(handle, ["issued"]);
}

async function signContract(client, { order, mobile }, contract) {
  const handle = await client.signOneShot(`${order}-contract`, {
    variant: "classic",
    providerFields: { reference: order, mobile },
    documents: [{ name: "contract.pdf", document: contract }],
  });
  await enterCode(handle, () => readCode("one-shot-signature", mobile));
  const { documents } = await ended(handle, ["signed"]);
  return documents.find(({ kind }) => kind === "signed").document;
}

async function serveContract(client, { order, ...customer }, signed) {
  const name = `${customer.firstName} ${customer.lastName}`;
  const handle = await client.serveNotice(`${order}-service`, {
    notice: {
      subject: "Your signed contract",
      body: "<p>Please find your signed contract attached.</p>",
      recipientAddress: customer.email,
      recipientDisplayName: name,
      lookupKey: order,
      affidavitKinds: ["Submitted", "Read", "Closed"],
      attachments: [{ fileName: "contract.pdf", document: signed }],
    },
    post: {
      document: signed,
      recipientName: name,
      recipientAddress: customer.address,
      lookupKey: order,
    },
    settings: forSandbox,
  });
  return ended(handle, ["servedByNotice", "servedByPost", "servedByBoth"]);
}

/** Hands in the customer's code once the process waits for it; does nothing if an earlier run has done so. */
async function enterCode(handle, readIt) {
  for await (const { waitingFor } of handle.watch()) {
    if (waitingFor !== "the holder's code") continue;
    for (let answer; answer !== "locked" && answer !== "expired"; await delay(1_000)) {
      ({ answer } = await handle.submitOtp(await readIt()));
      if (answer === "accepted") return;
      console.log(`${handle.workflowId}: the answer to the code is ${answer}`);
    }
  }
}

/** Waits for the end of a process, which must be one of the good ones. */
async function ended(handle, good) {
  const result = await handle.result();
  console.log(`${handle.workflowId}: ${result.outcome}`);
  if (!good.includes(result.outcome)) throw new Error(`${handle.workflowId} did not succeed`);
  return result;
}

let client;
try {
  client = await Trustflow.connect();
  const customer = JSON.parse(await readFile(process.argv[2] ?? "customer.json", "utf8"));
  const pdf = await readFile("contract.pdf");
  const contract = { base64: pdf.toString("base64"), mediaType: "application/pdf" };
  const identity = await verifyIdentity(client, customer);
  await issueCertificate(client, customer);
  const signed = await signContract(client, customer, contract);
  const service = await serveContract(client, customer, signed);
  const evidence = [...identity.documents, ...service.documents];
  console.log(`${customer.order}: onboarded, with ${evidence.length} documents as evidence`);
} catch (error) {
  // Each error of the client has a class, a stable `code`, `retryable` and `details` (docs/reference/client-errors.md).
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client?.close();
}
