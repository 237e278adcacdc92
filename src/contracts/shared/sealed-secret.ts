// The form of a secret that a client has sealed for the workers (docs/design.md §8). No zod: workflows import this file.
export const sealedPrefix = "trustflow-sealed:";

/** In place of a process's key: for a secret of an account's callback whose process is not known. No namespace has an empty name. */
export function keyOfAccount(provider: string, account: string) {
  return { namespace: "", workflowId: `${provider}/${account}` };
}

export function isSealed(value: unknown): value is string {
  return typeof value === "string" && /^trustflow-sealed:[\w-]+$/.test(value);
}
