// The steps of both flows (P1 §4.6); the shapes of requests and answers are assumed: not shown.
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import type { FaultRule } from "../../engine/faults.js";
import { hide } from "../../engine/visibility.js";
import type { Arrival, Call, Operation } from "../../exchange/operation.js";
import { readRequestMagic, type OperationName } from "./magic.js";
import { invalid, notFound, refusal } from "../../exchange/refusal.js";
import type { Kind, WalletObject } from "./wallet-object.js";
import type { WalletService } from "./wallet-service.js";

interface Step {
  name: OperationName;
  path: string;
  kind: Kind;
  /** The ids that a request refers to. */
  linked(arrival: Arrival): unknown[];
  /** Why these links are none. */
  refuse?(call: Call): Answer | undefined;
  answer(created: WalletObject): Answer;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function walletOperations(wallet: WalletService): Operation[] {
  function withoutTemplate({ body, account }: Call): Answer | undefined {
    const { credential_template: template } = fieldsOf(body);
    if (typeof template !== "string" || template === "")
      return invalid("credential_template: is required");
    if (wallet.find("template", template, account)) return undefined;
    return refusal(400, "unknown_template", "credential_template: unknown");
  }

  function withoutAll(name: string, kind: Kind, code: string) {
    return ({ body, account }: Call): Answer | undefined => {
      const ids = listOf(fieldsOf(body)[name]);
      if (ids.length === 0) return invalid(`${name}: is required`);
      const unknown = ids.findIndex((id) => !wallet.find(kind, id, account));
      return unknown < 0 ? undefined : refusal(400, code, `${name}[${unknown}]: unknown`);
    };
  }
  const withoutOperators = withoutAll("operators", "operator", "unknown_operator");
  const withoutVerificationTemplates = withoutAll(
    "verification_templates",
    "verificationTemplate",
    "unknown_verification_template",
  );

  const withoutService =
    (parameter: string, kind: Kind) =>
    ({ params, account }: Call): Answer | undefined =>
      wallet.find(kind, params[parameter], account) ? undefined : notFound("service");

  const template = ({ body }: Arrival) => [fieldsOf(body)["credential_template"]];
  const id = ({ id: created }: WalletObject) => jsonAnswer(200, { id: created });

  /** P1 §4.6 shows no answer of an init: the sandbox answers where the holder goes on. */
  function initiated({ id: flow, kind, words }: WalletObject): Answer {
    if (words.includes("empty-init")) return emptyAnswer(200);
    const url = `https://wallet.sandbox.invalid/${kind}/${flow}`;
    return jsonAnswer(200, { id: flow, state: "initiated", url });
  }

  const steps: Step[] = [
    {
      name: "createOperator",
      path: "/api/v1/user/create/",
      kind: "operator",
      linked: () => [],
      answer: ({ id: operator, words }) =>
        words.includes("with-token")
          ? jsonAnswer(200, { id: operator, api_token: wallet.tokenOf(operator) })
          : jsonAnswer(200, { id: operator }),
    },
    {
      name: "createTemplate",
      path: "/credential/api/v1/template/create/",
      kind: "template",
      linked: () => [],
      answer: id,
    },
    {
      name: "createIssuanceService",
      path: "/issuance/api/v1/service/create/",
      kind: "issuanceService",
      linked: template,
      refuse: withoutTemplate,
      answer: (service) => jsonAnswer(200, { issuance_service_id: service.id }),
    },
    {
      name: "initIssuance",
      path: "/issuance/api/v1/:issuance_service_id/init",
      kind: "issuance",
      linked: ({ params }) => [params["issuance_service_id"]],
      refuse: withoutService("issuance_service_id", "issuanceService"),
      answer: initiated,
    },
    {
      name: "createVerificationTemplate",
      path: "/credential/api/v1/verification/template/create/",
      kind: "verificationTemplate",
      linked: template,
      refuse: withoutTemplate,
      answer: id,
    },
    {
      name: "createPresentationService",
      path: "/verification/api/v1/service/create/",
      kind: "presentationService",
      linked({ body }) {
        const { verification_templates: templates, operators } = fieldsOf(body);
        return [...listOf(templates), ...listOf(operators)];
      },
      refuse: (call) => withoutOperators(call) ?? withoutVerificationTemplates(call),
      answer: (service) => jsonAnswer(200, { verification_service_id: service.id }),
    },
    {
      name: "initPresentation",
      path: "/verification/api/v1/:verification_service_id/init",
      kind: "presentation",
      linked: ({ params }) => [params["verification_service_id"]],
      refuse: withoutService("verification_service_id", "presentationService"),
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
    const unknown = readRequestMagic(body)?.unknown ?? [];
    if (unknown.length > 0)
      return refusal(400, "SandboxMagic", `unknown magic value: ${unknown.join(", ")}`);
    const refused = step.refuse?.(call);
    if (refused) return refused;
    const links = step.linked(call).filter((one) => typeof one === "string");
    const subject = wallet.subject(name, call, links);
    const created = wallet.create(name, { ...subject, kind, links }, account, at);
    hide(created, faults);
    return step.answer(created);
  }

  return steps.map((step) => ({
    name: step.name,
    method: "POST",
    path: step.path,
    describe: (arrival) => wallet.describe(step.name, arrival, step.linked(arrival)),
    perform: (call, faults) => perform(step, call, faults),
  }));
}
