// Create, contract, OTP and sign (P1 §4.4; shapes are assumed: not shown).
import { bytesAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import type { FaultRule } from "../../engine/faults.js";
import { sendOneTimePassword, tryOneTimePassword } from "../../engine/one-time-password.js";
import type { Call, Operation } from "../../exchange/operation.js";
import { hide } from "../../engine/visibility.js";
import { unknownWords } from "../../exchange/magic.js";
import { pdf } from "../../exchange/pdf.js";
import { invalid, refusal, wrongState } from "../../exchange/refusal.js";
import { requestOperation, ROOT } from "./request-operation.js";
import {
  describeCreation,
  PROVIDER,
  readRequestMagic,
  type SignatureRequest,
  type SigningService,
} from "./signing-service.js";

export function requestOperations(signing: SigningService): Operation[] {
  // Another code may be meant; another signature is not.
  signing.parts.ledger.allowRepeats(`${PROVIDER}.otp`);

  /** The payload is the caller's own; the sandbox reads `reference`, `mobile`, `identityVideo` and `sandbox`. */
  function create(call: Call, faults: FaultRule[]): Answer {
    const { body, account, at } = call;
    if (!isObject(body)) return invalid("the body must be a JSON object");
    const { reference, mobile, identityVideo } = body;
    if (reference !== undefined && typeof reference !== "string")
      return invalid("reference: must be a string");
    if (mobile !== undefined && typeof mobile !== "string")
      return invalid("mobile: must be a string");
    if (identityVideo !== undefined && typeof identityVideo !== "boolean")
      return invalid("identityVideo: must be a boolean");
    const magic = readRequestMagic(body);
    const unknown = unknownWords(magic);
    if (unknown !== undefined) return refusal(400, "SandboxMagic", unknown);
    const { magicKey } = describeCreation(call);
    const request = signing.create(
      {
        intent: reference ?? null,
        ...(magic && { magicKey }),
        ...(mobile !== undefined && { mobile }),
        words: magic?.words ?? [],
        needsVideo: identityVideo ?? false,
      },
      account,
      at,
    );
    hide(request, faults);
    return jsonAnswer(200, { request_pk: request.id });
  }

  /** Why a request cannot be signed now. */
  function obstacle(request: SignatureRequest): Answer | undefined {
    if (request.state !== "created") return wrongState(`the request is ${request.state}`);
    if (request.documents.length === 0) return wrongState("nothing has been uploaded");
    if (request.needsVideo && request.identityVideo?.state !== "approved")
      return wrongState("the identity video is not approved");
    return undefined;
  }

  function otp(request: SignatureRequest, { at }: Call): Answer {
    const refused = obstacle(request);
    if (refused) return refused;
    const { intent, mobile: to = "" } = request;
    const text = "Your code for signing is $OTP$";
    const message = { provider: PROVIDER, intent, channel: "SMS", to, text } as const;
    request.otp = sendOneTimePassword(signing.parts, message, at);
    signing.effect("otp", request, at);
    return jsonAnswer(200, {});
  }

  function sign(request: SignatureRequest, { body, at }: Call): Answer {
    const { otp: given } = fieldsOf(body);
    if (typeof given !== "string" || given === "") return invalid("otp: is required");
    const refused = obstacle(request);
    if (refused) return refused;
    if (!request.otp) return wrongState("no code has been asked for");
    const tried = tryOneTimePassword(signing.parts, request.otp, given);
    signing.parts.changed();
    if (tried !== "right") return refusal(400, `otp_${tried}`, `the code is ${tried}`);
    signing.sign(request, at);
    return jsonAnswer(200, { state: request.state });
  }

  return [
    {
      name: "create",
      route: `POST ${ROOT}/create`,
      describe: describeCreation,
      perform: create,
    },
    requestOperation(signing, "contract", "GET", "contract/:request_pk", (request) =>
      bytesAnswer("application/pdf", contractPdf(request)),
    ),
    requestOperation(signing, "otp", "POST", "otp/:request_pk", otp),
    requestOperation(signing, "sign", "POST", "sign/:request_pk", sign),
  ];
}

/** P1 §4.4: the service contract. */
function contractPdf(request: SignatureRequest): Buffer {
  return pdf([
    "Contract of the one-shot signature service",
    "Trustflow sandbox: binds nobody",
    "",
    `Request ${request.id}`,
    `Created ${new Date(request.createdAt).toISOString()}`,
  ]);
}
