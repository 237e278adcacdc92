// A bare caller of the simulated wallet, which can bring it to where a test begins.
import type { Sandbox } from "../../../src/sandbox.js";
import { exchange, type Answered } from "../../exchange.js";

/** See `given.exists` of test/fixtures/credential-wallet/README.md. */
export type Existing =
  | "operator"
  | "template"
  | "verificationTemplate"
  | "issuanceService"
  | "presentationService";

export function holder(sandbox: Sandbox, username = "sandbox") {
  const headers = { authorization: `Bearer ${username}-api-token` };
  const send = (path: string, body: unknown = {}): Promise<Answered> =>
    exchange(sandbox, { method: "POST", path, headers, body });

  async function sure(path: string, body: unknown): Promise<any> {
    const answer = await send(path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  const createOperator = async (body: object = {}): Promise<string> =>
    (await sure("/api/v1/user/create/", body)).id;
  const createTemplate = async (body: object = {}): Promise<string> =>
    (await sure("/credential/api/v1/template/create/", body)).id;
  const createIssuanceService = async (template: string, body: object = {}): Promise<string> => {
    const linked = { ...body, credential_template: template };
    return (await sure("/issuance/api/v1/service/create/", linked)).issuance_service_id;
  };
  const createVerificationTemplate = async (
    template: string,
    body: object = {},
  ): Promise<string> => {
    const linked = { ...body, credential_template: template };
    return (await sure("/credential/api/v1/verification/template/create/", linked)).id;
  };
  const createPresentationService = async (
    operator: string,
    verificationTemplate: string,
    body: object = {},
  ): Promise<string> => {
    const links = { operators: [operator], verification_templates: [verificationTemplate] };
    const path = "/verification/api/v1/service/create/";
    return (await sure(path, { ...body, ...links })).verification_service_id;
  };
  const initIssuance = (service: string, body: object = {}) =>
    send(`/issuance/api/v1/${service}/init`, body);
  const initPresentation = (service: string, body: object = {}) =>
    send(`/verification/api/v1/${service}/init`, body);

  /** The ids of what exists then, by the names that fixtures have for them. */
  async function bring(existing: readonly Existing[]): Promise<Record<string, string>> {
    const ids: Record<string, string> = {};
    for (const kind of existing) {
      switch (kind) {
        case "operator":
          ids["operatorId"] = await createOperator();
          break;
        case "template":
          ids["templateId"] = await createTemplate();
          break;
        case "verificationTemplate":
          ids["verificationTemplateId"] = await createVerificationTemplate(await createTemplate());
          break;
        case "issuanceService":
          ids["issuanceServiceId"] = await createIssuanceService(await createTemplate());
          break;
        case "presentationService": {
          const verificationTemplate = await createVerificationTemplate(await createTemplate());
          const operator = await createOperator();
          const service = await createPresentationService(operator, verificationTemplate);
          ids["verificationServiceId"] = service;
        }
      }
    }
    return ids;
  }

  return {
    send,
    createOperator,
    createTemplate,
    createIssuanceService,
    createVerificationTemplate,
    createPresentationService,
    initIssuance,
    initPresentation,
    bring,
  };
}
