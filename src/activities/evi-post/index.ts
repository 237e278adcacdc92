// The activities of certified post: build the key, call the provider through the journal, translate the error
// (P2 §2.1–2.5, §4.1; docs/reading-the-specification.md §1–2).
import { ask } from "./ask.js";
import { PostOffice } from "./context.js";
import type { EviPostDependencies } from "./context.js";
import { submit } from "./submit.js";
import { cancel, requestAffidavit } from "./updates.js";

export type { EviPostDependencies, PostalAccount } from "./context.js";
export type { PostalSubmitted } from "./submit.js";

export function createEviPostActivities(dependencies: EviPostDependencies) {
  const office = new PostOffice(dependencies);
  return {
    submit: (given: Parameters<typeof submit>[1]) => submit(office, given),
    ask: (question: Parameters<typeof ask>[1]) => ask(office, question),
    cancel: (call: Parameters<typeof cancel>[1]) => cancel(office, call),
    requestAffidavit: (call: Parameters<typeof requestAffidavit>[1]) =>
      requestAffidavit(office, call),
  };
}

export type EviPostActivities = ReturnType<typeof createEviPostActivities>;
