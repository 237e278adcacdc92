// An operation about one signature request: found by `request_pk`, seen by its own account alone.
import type { Answer } from "../../exchange/answer.js";
import { describeIntent } from "../../exchange/description.js";
import type { Call, Operation } from "../../exchange/operation.js";
import type { operationNames } from "./magic.js";
import { notFound } from "../../exchange/refusal.js";
import type { SignatureRequest } from "./signature-request.js";
import type { SigningService } from "./signing-service.js";

export const ROOT = "/oneshot/api/v1";

export function requestOperation(
  signing: SigningService,
  name: (typeof operationNames)[number],
  route: `${Operation["method"]} ${string}`,
  perform: (request: SignatureRequest, call: Call) => Answer,
): Operation {
  const [method, path] = route.split(" ") as [Operation["method"], string];
  const find = (params: Call["params"]) => signing.get(params["request_pk"] ?? "");
  return {
    name,
    method,
    path: `${ROOT}/${path}`,
    describe({ params }) {
      const request = find(params);
      return describeIntent(request?.intent ?? null, request?.magicKey);
    },
    perform(call) {
      const request = find(call.params);
      return request?.account === call.account.username
        ? perform(request, call)
        : notFound("request");
    },
  };
}
