// The request bodies of the control API as JSON Schema; a refusal names the field.
import { callbackFaultKinds, requestFaultKinds } from "../engine/faults.js";

const object = (properties: Record<string, object>, required: string[] = []) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
const text = { type: "string", minLength: 1 };
const flag = { type: "boolean" };
const texts = { type: "array", items: text };
const whole = (minimum: number) => ({ type: "integer", minimum });

export const clockBody = object(
  { speed: { anyOf: [{ enum: ["manual", "auto"] }, { type: "number", exclusiveMinimum: 0 }] } },
  ["speed"],
);
export const advanceBody = object({ ms: whole(0) }, ["ms"]);

export const faultBody = object(
  {
    operation: text,
    kind: { enum: [...requestFaultKinds, ...callbackFaultKinds] },
    status: { type: "integer", minimum: 200, maximum: 599 },
    code: { type: "integer" },
    retryAfterSeconds: whole(0),
    ms: whole(0),
    queries: whole(1),
    cached: flag,
    call: whole(1),
    times: { anyOf: [{ const: "always" }, whole(1)] },
    lookupKey: text,
    account: text,
    event: text,
    forMs: whole(1),
  },
  ["operation", "kind"],
);

export const accountBody = object({
  password: text,
  apiKey: text,
  roles: texts,
  lras: {
    type: "object",
    additionalProperties: object({ methods: texts, eIDTypes: texts, hasEmailOtp: flag }),
  },
  token: text,
  webhookUrl: text,
  closeEventUrl: text,
  apiToken: text,
  canCancel: flag,
  provisioned: flag,
  site: object({ name: text, region: text, language: text }),
  ownerName: text,
  ownerEmail: text,
  certificationLevel: text,
  certificationLevels: texts,
  balance: whole(0),
  onDemandLimit: whole(0),
  postServiceProfiles: texts,
});

export const moveBody = object({ state: text, outcome: text, keepPlan: flag }, ["state"]);
export const publicationBody = object({ regenerates: text, keepsId: flag, requestId: text });
