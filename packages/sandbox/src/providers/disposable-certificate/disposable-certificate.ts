// The disposable certificate service as a provider of the sandbox (P1 §1.1): mutual TLS and HTTP Basic on every request.
import { isObject } from "../../exchange/checker.js";
import { basicAccount, header, isJson } from "../../exchange/credentials.js";
import { Shelf } from "../../exchange/kept.js";
import type { Admission, Arrival, Operation, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { lraOperations } from "./lra-operations.js";
import { otpOperations, type Enrollment } from "./otp-operations.js";
import { badField, codes, problem, refuse } from "./problem.js";

const NAME = "disposable-certificate";

/** Shows the `deviceCode`, because an operator who decides about an enrolment without an answer reads it at the provider. */
function shown({ otp, ...rest }: Enrollment): object {
  const { code: _code, ...left } = otp ?? {};
  return { ...rest, ...(otp && { otp: left }) };
}

export function disposableCertificate(parts: SandboxParts): SandboxProvider {
  const enrollments = new Shelf<Enrollment>(
    NAME,
    ({ certIdOtp, state }) => ({
      id: String(certIdOtp),
      outcome: state === "validated" ? "Issued" : "None",
    }),
    shown,
  );
  const find = (certIdOtp: unknown) =>
    typeof certIdOtp === "number" ? enrollments.get(String(certIdOtp)) : undefined;
  // A code may be asked for again; two certificates for one person are not meant.
  parts.ledger.allowRepeats(`${NAME}.sendOtp`);

  /** P1 §5.1, 7.1: wrong credentials and missing rights share a code. */
  function authenticate(arrival: Arrival): Admission {
    const account = basicAccount(parts.accounts, arrival);
    if (account?.provisioned) return { account };
    const why = account ? "the user is not authorized" : "wrong username or password";
    const denial = problem(codes.denied, why);
    const hasNone = header(arrival, "authorization") === undefined;
    return { account, denial, ...(hasNone && { missing: "Authorization" }) };
  }

  /** P1 §4.1: every request carries `Content-Type: application/json`, and each has a body. */
  function withJson(operation: Operation): Operation {
    return {
      ...operation,
      perform(call, faults) {
        if (!isJson(call)) {
          const { intent } = operation.describe(call);
          const given = header(call, "content-type") ?? "none";
          parts.ledger.violate(call, "wrongContentType", intent, given);
          return badField("Content-Type", "must be application/json");
        }
        if (!isObject(call.body)) return badField("body", "is required, a JSON object");
        return operation.perform(call, faults);
      },
    };
  }

  return {
    name: NAME,
    operations: [
      ...lraOperations(parts, (made) => enrollments.add(made)),
      ...otpOperations(parts, find),
    ].map(withJson),
    authenticate,
    refuse,
    kept: enrollments,
  };
}
