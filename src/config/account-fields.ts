// The keys that the accounts of several providers have in common.
import type { z } from "zod";
import { isSameSpelling } from "../contracts/shared/values.js";
import { list, renewedSecret, text, whole } from "./fields.js";

/** Of one call. Below `journal.leaseSeconds`, so that a lease outlives its call. */
export const timeoutSeconds = whole(1).default(30);

/** A client certificate: PEM files, or PKCS#12 (P1 §5.1, §5.5); read again when the files change. */
export const clientCertificate = {
  certificateFile: text().optional(),
  keyFile: text().optional(),
  pkcs12File: text().optional(),
  passphrase: renewedSecret().optional(),
  /** The authorities that the provider's own certificate is checked by; default: the public ones. */
  caFile: text().optional(),
};

interface CertificateFiles {
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  pkcs12File?: string | undefined;
}

/** Either the pair or the one file. */
export function needsCertificate(account: CertificateFiles, context: z.RefinementCtx): void {
  const { certificateFile, keyFile, pkcs12File } = account;
  const parts = [certificateFile, keyFile].filter((file) => file !== undefined).length;
  if (parts === (pkcs12File === undefined ? 2 : 0)) return;
  context.addIssue({
    code: "custom",
    path: ["certificateFile"],
    message:
      "give certificateFile and keyFile (PEM), or pkcs12File: the service wants a client certificate",
  });
}

/** The names that a member or a word may have. */
export function names(...known: string[]) {
  return list().default(known);
}

/** One name cannot stand for two members, or for two words. */
export function refuseNameOfTwo(given: Record<string, string[]>, context: z.RefinementCtx): void {
  const all = Object.entries(given);
  for (const [index, [own, spellings]] of all.entries())
    for (const [other, taken] of all.slice(0, index)) {
      const twice = spellings.find((one) => taken.some((name) => isSameSpelling(one, name)));
      if (twice === undefined) continue;
      const message = `"${twice}" stands for ${other} already`;
      context.addIssue({ code: "custom", path: [own], message });
    }
}
