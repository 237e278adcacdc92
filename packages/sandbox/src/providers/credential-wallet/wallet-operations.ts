// The steps of both flows (P1 §4.6); the shapes of requests and answers are assumed: not shown.
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import type { FaultRule } from "../../engine/faults.js";
import { hide } from "../../engine/visibility.js";
import { unknownWords } from "../../exchange/magic.js";
import type { Arrival, Call, Operation } from "../../exchange/operation.js";
import { invalid, notFound, refusal } from "../../exchange/refusal.js";
import {
  readRequestMagic,
  type Kind,
  type OperationName,
  type WalletObject,
  type WalletService,
} from "./wallet-service.js";

interface Step {
  name: OperationName;
  route: Operation["route"];
  kind: Kind;
  /** The ids that a request refers to; default: none. */
  linked?(arrival: Arrival): unknown[];
  /** Why these links are none. */
  refuse?(call: Call): Answer | undefined;
  answer(created: WalletObject): Answer;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const linksOf = (step: Step, arrival: Arrival) => step.linked?.(arrival) ?? [];

export function walletOperations(wallet: WalletService): Operation[] {
  const ofTemplate: Pick<Step, "linked" | "refuse"> = {
    linked: ({ body }) => [fieldsOf(body)["credential_template"]],
    refuse({ body, account }) {
      const { credential_template: template } = fieldsOf(body);
      if (typeof template !== "string" || template === "")
        return invalid("credential_template: is required");
      if (wallet.find("template", template, account)) return undefined;
      return refusal(400, "unknown_template", "credential_template: unknown");
    },
  };

  const ofService = (parameter: string, kind: Kind): Pick<Step, "linked" | "refuse"> => ({
    linked: ({ params }) => [params[parameter]],
    refuse: ({ params, account }) =>
      wallet.find(kind, params[parameter], account) ? undefined : notFound("service"),
  });

  function unknownOf({ body, account }: Call, name: string, kind: Kind, code: string) {
    const ids = listOf(fieldsOf(body)[name]);
    if (ids.length === 0) return invalid(`${name}: is required`);
    const unknown = ids.findIndex((id) => !wallet.find(kind, id, account));
    return unknown < 0 ? undefined : refusal(400, code, `${name}[${unknown}]: unknown`);
  }

  /** P1 §4.6 shows no answer of an init: the sandbox answers where the holder goes on. */
  function initiated({ id: flow, kind, words }: WalletObject): Answer {
    if (words.includes("empty-init")) return emptyAnswer(200);
    const url = `https://wallet.sandbox.invalid/${kind}/${flow}`;
    return jsonAnswer(200, { id: flow, state: "initiated", url });
  }

  /** The token of a new operator is a secret, which no operation of the sandbox takes. */
  const operator = ({ id, words }: WalletObject) =>
    words.includes("with-token")
      ? jsonAnswer(200, { id, api_token: `${id.replaceAll("-", "")}-token` })
      : jsonAnswer(200, { id });

  const steps: Step[] = [
    {
      name: "createOperator",
      route: "POST /api/v1/user/create/",
      kind: "operator",
      answer: operator,
    },
    {
      name: "createTemplate",
      route: "POST /credential/api/v1/template/create/",
      kind: "template",
      answer: ({ id }) => jsonAnswer(200, { id }),
    },
    {
      name: "createIssuanceService",
      route: "POST /issuance/api/v1/service/create/",
      kind: "issuanceService",
      ...ofTemplate,
      answer: ({ id }) => jsonAnswer(200, { issuance_service_id: id }),
    },
    {
      name: "initIssuance",
      route: "POST /issuance/api/v1/:issuance_service_id/init",
      kind: "issuance",
      ...ofService("issuance_service_id", "issuanceService"),
      answer: initiated,
    },
    {
      name: "createVerificationTemplate",
      route: "POST /credential/api/v1/verification/template/create/",
      kind: "verificationTemplate",
      ...ofTemplate,
      answer: ({ id }) => jsonAnswer(200, { id }),
    },
    {
      name: "createPresentationService",
      route: "POST /verification/api/v1/service/create/",
      kind: "presentationService",
      linked({ body }) {
        const { verification_templates: templates, operators } = fieldsOf(body);
        return [...listOf(templates), ...listOf(operators)];
      },
      refuse: (call) =>
        unknownOf(call, "operators", "operator", "unknown_operator") ??
        unknownOf(
          call,
          "verification_templates",
          "verificationTemplate",
          "unknown_verification_template",
        ),
      answer: ({ id }) => jsonAnswer(200, { verification_service_id: id }),
    },
    {
      name: "initPresentation",
      route: "POST /verification/api/v1/:verification_service_id/init",
      kind: "presentation",
      ...ofService("verification_service_id", "presentationService"),
      answer: initiated,
    },
  ];

  /** The body is the caller's own; the sandbox reads `reference`, `sandbox` and what links to another object. */
  function perform(step: Step, call: Call, faults: FaultRule[]): Answer {
    const { body, account, at } = call;
    const { name, kind } = step;
    if (!isObject(body)) return invalid("the body must be a JSON object");
    const { reference } = body;
    if (reference !== undefined && typeof reference !== "string")
      return invalid("reference: must be a string");
    const unknown = unknownWords(readRequestMagic(body));
    if (unknown !== undefined) return refusal(400, "SandboxMagic", unknown);
    const refused = step.refuse?.(call);
    if (refused) return refused;
    const links = linksOf(step, call).filter((one) => typeof one === "string");
    const subject = wallet.subject(name, call, links);
    const created = wallet.create(name, { ...subject, kind, links }, account, at);
    hide(created, faults);
    return step.answer(created);
  }

  return steps.map((step) => ({
    name: step.name,
    route: step.route,
    describe: (arrival) => wallet.describe(step.name, arrival, linksOf(step, arrival)),
    perform: (call, faults) => perform(step, call, faults),
  }));
}
