// What the first effect of a process answers, by the provider's id: for `happened`, and for an answer that comes late.
import type { ProcessName } from "../../src/contracts/names.js";

export const resultOf: Partial<Record<ProcessName, (item: string) => Record<string, unknown>>> = {
  sendPostal: (uniqueId) => ({ uniqueId }),
};
