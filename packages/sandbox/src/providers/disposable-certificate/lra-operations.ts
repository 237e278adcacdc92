// The four operations below an LRA: check and enroll, with the holder's data or with an eID assertion (P1 §4.1).
import type { LraOptions } from "../../engine/accounts.js";
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { Checker, fieldsOf } from "../../exchange/checker.js";
import { describeIntent } from "../../exchange/description.js";
import { magicKey, readMagic, unknownWords } from "../../exchange/magic.js";
import type { Arrival, Call, Description, Operation } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import {
  checkAssertionInput,
  checkHolder,
  decodeAssertion,
  invalidClaims,
  issuedAt,
  personOf,
  type Person,
} from "./input-check.js";
import type { Enrollment } from "./otp-operations.js";
import { badField, codes, lraOf, problem } from "./problem.js";

const operationNames = [
  "checkData",
  "checkDataWitheIDAssertion",
  "enroll",
  "enrollDisposableWitheIDAssertion",
  "sendOtp",
  "validate",
] as const;
const NAME = "disposable-certificate";
const vocabulary = { provider: NAME, operations: operationNames, words: [] };

type Input = { person: Person } | { problem: Answer };
type Read = (call: Call, lra: LraOptions) => Input;

export function lraOperations(parts: SandboxParts, add: (made: Enrollment) => void): Operation[] {
  /** Notes what is unknown, and refuses the first thing that is wrong. */
  function checked<T>(call: Call, check: (top: Checker) => T | undefined): T | { problem: Answer } {
    const top = new Checker(fieldsOf(call.body));
    const found = check(top);
    const { intent } = describe(call);
    for (const name of top.unknown) parts.ledger.violate(call, "unknownField", intent, name);
    const [first] = top.errors;
    if (first) return { problem: problem(codes.field, first.message) };
    return found ?? { problem: badField("body", "is not what it should be") };
  }

  const readHolder: Read = (call, { hasEmailOtp = true }) => {
    const person = checked(call, (top) => checkHolder(top, hasEmailOtp));
    return "problem" in person ? person : { person };
  };

  const readAssertion: Read = (call, { eIDTypes }) => {
    const input = checked(call, checkAssertionInput);
    if ("problem" in input) return input;
    const { eIDType, assertion, mobile } = input;
    if (eIDTypes && !eIDTypes.includes(eIDType)) {
      const why = `the LRA is not authorized for the eID type ${eIDType}`;
      return { problem: problem(codes.eIDTypeDenied, why) };
    }
    const claims = decodeAssertion(assertion);
    const why = invalidClaims(claims);
    if (why !== undefined || !claims) {
      return { problem: problem(codes.assertionInvalid, `the eID assertion ${why}`) };
    }
    if (Math.abs(parts.personNow() - (issuedAt(claims) ?? 0)) > parts.options.assertionLifetimeMs) {
      return { problem: problem(codes.assertionExpired, "the eID assertion is expired") };
    }
    return { person: { intent: String(claims["person_identifier"]), mobile } };
  };

  function enroll(call: Call, { intent, mobile, email }: Person, hasOtpId: boolean): Answer {
    const { ids, ledger } = parts;
    const deviceCode = ids.uuid(`${NAME}/deviceCode`);
    const certIdOtp = 10_000 + ids.count(`${NAME}/deviceCode`);
    const otpId = hasOtpId ? { otpId: 20_000 + ids.count(`${NAME}/deviceCode`) } : {};
    const { operation, at, params } = call;
    const account = call.account.username;
    const { magicKey: key } = describe(call);
    add({
      certIdOtp,
      deviceCode,
      ...otpId,
      operation,
      account,
      lraId: params["lraId"] ?? "",
      intent,
      ...(key !== undefined && { magicKey: key }),
      mobile,
      email,
      createdAt: at,
      state: "enrolled",
    });
    ledger.record({ operation, intent, itemId: String(certIdOtp), at, account });
    return jsonAnswer(200, { certIdOtp, deviceCode, ...otpId });
  }

  function operation(
    name: (typeof operationNames)[number],
    read: Read,
    succeed: (call: Call, person: Person) => Answer,
  ): Operation {
    return {
      name,
      route: `POST /api/certificate/:lraId/${name}`,
      needsClientCertificate: true,
      describe,
      perform(call) {
        const lra = lraOf(call.account, call.params["lraId"] ?? "", name);
        if ("problem" in lra) return lra.problem;
        const input = read(call, lra);
        if ("problem" in input) return input.problem;
        const unknown = unknownWords(magicOf(call));
        return unknown === undefined
          ? succeed(call, input.person)
          : badField(magicPlace(call), unknown);
      },
    };
  }

  return [
    operation("checkData", readHolder, () => jsonAnswer(200, {})),
    operation("checkDataWitheIDAssertion", readAssertion, () => emptyAnswer(200)),
    operation("enroll", readHolder, (call, person) => enroll(call, person, false)),
    operation("enrollDisposableWitheIDAssertion", readAssertion, (call, person) =>
      enroll(call, person, true),
    ),
  ];
}

const isByAssertion = ({ body }: Arrival) => "eidAssertionHolder" in fieldsOf(body);
const magicPlace = (arrival: Arrival) =>
  isByAssertion(arrival) ? "eidAssertionHolder.assertion" : "disposableHolder.firstName";

function personNamed(arrival: Arrival): { intent: unknown; name: unknown } {
  const holder = fieldsOf(fieldsOf(arrival.body)["disposableHolder"]);
  return isByAssertion(arrival)
    ? personOf(arrival.body)
    : { intent: holder["identificationCode"], name: holder["firstName"] };
}

const magicOf = (arrival: Arrival) => readMagic([personNamed(arrival).name], vocabulary);

function describe(arrival: Arrival): Description {
  const { intent: given, name } = personNamed(arrival);
  const intent = typeof given === "string" ? given : null;
  const magic = magicOf(arrival);
  return {
    ...describeIntent(intent),
    ...(magic && { magicKey: magicKey(NAME, intent, name), magicFaults: magic.faults }),
  };
}
