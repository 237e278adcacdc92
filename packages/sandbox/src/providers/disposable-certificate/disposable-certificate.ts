// The disposable certificate service as a provider of the sandbox (P1 §1.1): mutual TLS and HTTP Basic on every request.
import { isObject } from "../../exchange/checker.js";
import { basicAccount, header, isJson } from "../../exchange/credentials.js";
import type {
  Admission,
  Arrival,
  ItemSummary,
  Operation,
  SandboxProvider,
} from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { summary, view, type Enrollment } from "./enrollments.js";
import { lraOperations } from "./lra-operations.js";
import { otpOperations } from "./otp-operations.js";
import { badField, codes, problem, refuse } from "./problem.js";

export function disposableCertificate(parts: SandboxParts): SandboxProvider {
  const enrollments = new Map<number, Enrollment>();
  const find = (certIdOtp: unknown) => enrollments.get(certIdOtp as number);
  const add = (made: Enrollment) => void enrollments.set(made.certIdOtp, made);
  // A code may be asked for again; two certificates for one person are not meant.
  parts.ledger.allowRepeats("disposable-certificate.sendOtp");

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
    name: "disposable-certificate",
    operations: [...lraOperations(parts, add), ...otpOperations(parts, find)].map(withJson),
    authenticate,
    refuse,
    *items(): Iterable<ItemSummary> {
      for (const enrollment of enrollments.values()) yield summary(enrollment);
    },
    item(id) {
      const enrollment = find(Number(id));
      return enrollment && view(enrollment);
    },
    save: (): Enrollment[] => [...enrollments.values()],
    load(state) {
      enrollments.clear();
      for (const enrollment of state as Enrollment[]) add(enrollment);
    },
    clear: () => enrollments.clear(),
  };
}
