// Every class of src/errors: its file, its code, what a log may take of it, and its section of docs/reference/client-errors.md.
import { expect, test } from "vitest";
import * as client from "../../src/client.js";
import * as errors from "../../src/errors/index.js";
import { anchors, files, textOf } from "../docs/repository.js";

const page = "docs/reference/client-errors.md";
const { TrustflowError, ...classes } = errors;
const secret = "Ana Ruiz";
const cause = Object.assign(new Error(`about ${secret}`), { code: "EACCES" });
const fields = [{ path: "recipientName", problem: `"${secret}" is not allowed` }];
const uri = "document:00112233445566778899aabbccddeeff";

/** One of each; what may be personal data is the secret. */
const samples: { [name in keyof typeof classes]: InstanceType<(typeof classes)[name]> } = {
  ConfigurationError: new errors.ConfigurationError(["keys.codec is required"]),
  UnreachableError: new errors.UnreachableError("Temporal cannot be reached", { updateId: "u-1" }),
  ClientClosedError: new errors.ClientClosedError(),
  TlsRefusedError: new errors.TlsRefusedError("temporal:7233", "self-signed certificate"),
  AccessDeniedError: new errors.AccessDeniedError("Request unauthorized."),
  NamespaceMissingError: new errors.NamespaceMissingError("letters"),
  WrongCodecKeyError: new errors.WrongCodecKeyError("letters", ["k1"]),
  UnknownKeyError: new errors.UnknownKeyError("k1"),
  DecryptionError: new errors.DecryptionError("the seal is broken"),
  TemporalRefusedError: new errors.TemporalRefusedError("invalidArgument", "too long"),
  InvalidInputError: new errors.InvalidInputError([{ path: "document", problem: "is required" }]),
  InputMismatchError: new errors.InputMismatchError("sendPostal/order-7", ["recipientName"]),
  UnknownProcessError: new errors.UnknownProcessError("sendPostal/order-7"),
  NotAcceptedError: new errors.NotAcceptedError({ provider: "evi-post", code: "237", fields }),
  AbandonedError: new errors.AbandonedError({
    attention: "submit-1",
    effect: "none",
    by: secret,
    note: secret,
  }),
  TerminatedError: new errors.TerminatedError("sendPostal/order-7"),
  UnexpectedFailureError: new errors.UnexpectedFailureError("sendPostal/order-7", "Other", cause),
  FinishedError: new errors.FinishedError("sendPostal/order-7", "delivered"),
  StuckError: new errors.StuckError("sendPostal/order-7", "u-1"),
  UnprovenAnswerError: new errors.UnprovenAnswerError("sendPostal/order-7"),
  TimedOutError: new errors.TimedOutError(500, "u-1"),
  TooManyFailuresError: new errors.TooManyFailuresError(3, 2),
  DocumentNotFoundError: new errors.DocumentNotFoundError(uri),
  DocumentErasedError: new errors.DocumentErasedError(uri),
  DocumentCorruptError: new errors.DocumentCorruptError(uri, "has 3 bytes instead of 4"),
  DocumentConflictError: new errors.DocumentConflictError(uri),
  DocumentStoreFullError: new errors.DocumentStoreFullError(cause),
  DocumentStoreUnavailableError: new errors.DocumentStoreUnavailableError("EACCES", cause),
  MissingDataKeyError: new errors.MissingDataKeyError("k1"),
};

const kebab = (name: string) => name.replaceAll(/(?<!^)([A-Z])/g, "-$1").toLowerCase();

test("each class has a file of its own, and the client exports it", () => {
  const own = files.filter((path) => /^src\/errors\/\w+\//.test(path));
  const named = own.map((path) => path.replace(/^.*\/|\.ts$/g, ""));
  expect(named.toSorted()).toEqual(Object.keys(classes).map(kebab).toSorted());
  for (const path of own) expect(textOf(path).match(/^export class/gm)).toHaveLength(1);
  expect(client).toMatchObject(errors);
});

test("no two classes have one code", () => {
  const codes = Object.values(samples).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});

test.each(Object.entries(samples))("%s can be told, logged and looked up", (name, error) => {
  expect(error).toBeInstanceOf(TrustflowError);
  expect(error.name).toBe(name);
  expect(JSON.parse(JSON.stringify(error.details))).toEqual(error.details);
  expect(JSON.stringify(error.details)).not.toContain(secret);
  const [path = "", anchor = ""] = error.docs.split("#");
  expect(path).toBe(page);
  expect(anchors(path)).toContain(anchor);
});

test.each(Object.entries(samples))("%s has its name in a minified application", (name, error) => {
  const Class = error.constructor;
  Object.defineProperty(Class, "name", { value: "a" });
  const met = [error.name, error.docs];
  Object.defineProperty(Class, "name", { value: name });
  expect(met).toEqual([name, `${page}#${name.toLowerCase()}`]);
});

test("20 members that differ are named, however many there are", () => {
  const members = Array.from({ length: 25 }, (_, at) => `recipients.${at}.name`);
  const { details, message } = new errors.InputMismatchError("sendPostal/order-7", members);
  expect(details.members).toEqual(members.slice(0, 20));
  expect(message).toMatch(/recipients\.19\.name and more differ$/);
});

test.each(Object.entries(samples))("the page says of %s what it is", (name, error) => {
  const [, section = ""] = textOf(page).split(`\n### ${name}\n`);
  const [, facts = ""] = /^(code [^]*?\.)$/m.exec(section) ?? [];
  expect(facts).toMatch(`code \`${error.code}\`; ${error.retryable ? "" : "not "}retryable;`);
  for (const member of Object.keys(error.details))
    expect(facts).toMatch(new RegExp(`\\b${member}\\b`));
  if (Object.keys(error.details).length === 0) expect(facts).toContain("no details");
});
