// An operation about one signature request: found by `request_pk`, seen by its own account alone.
import type { Answer } from "../../exchange/answer.js";
import { describeIntent } from "../../exchange/description.js";
import type { Call, Operation } from "../../exchange/operation.js";
import { notFound } from "../../exchange/refusal.js";
import type { operationNames, SignatureRequest, SigningService } from "./signing-service.js";

export const ROOT = "/oneshot/api/v1";

export type OperationName = (typeof operationNames)[number];

export function requestOperation(
  signing: SigningService,
  name: OperationName,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  perform: (request: SignatureRequest, call: Call) => Answer,
): Operation {
  const find = (params: Call["params"]) => signing.requests.get(params["request_pk"]);
  return {
    name,
    route: `${method} ${ROOT}/${path}`,
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
