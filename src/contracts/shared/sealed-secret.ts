// The form of a secret that a client has sealed for the workers (decision 23). No zod: workflows import this file.
export const sealedPrefix = "trustflow-sealed:";

export function isSealed(value: unknown): value is string {
  return typeof value === "string" && /^trustflow-sealed:[\w-]+$/.test(value);
}
