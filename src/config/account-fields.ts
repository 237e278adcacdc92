// Configuration keys that the accounts of several providers share.
import type { z } from "zod";
import { isSameSpelling } from "../contracts/shared/values.js";
import { list, renewedSecret, text, whole } from "./fields.js";

/** Limits one call. It is less than `journal.leaseSeconds`, so that a lease outlives its call. */
export const timeoutSeconds = whole(1).default(30);

/** A client certificate: PEM files, or PKCS#12 (P1 §5.1, §5.5); read again when the files change. */
export const clientCertificate = {
  certificateFile: text().optional(),
  keyFile: text().optional(),
  pkcs12File: text().optional(),
  passphrase: renewedSecret().optional(),
  /** The certificate authorities for the provider's own certificate; default: the public ones. */
  caFile: text().optional(),
};

interface CertificateFiles {
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  pkcs12File?: string | undefined;
}

/** Either the PEM pair or the PKCS#12 file. */
export function needsCertificate(account: CertificateFiles, context: z.RefinementCtx): void {
  const { certificateFile, keyFile, pkcs12File } = account;
  const parts = [certificateFile, keyFile].filter((file) => file !== undefined).length;
  if (parts === (pkcs12File === undefined ? 2 : 0)) return;
  context.addIssue({
    code: "custom",
    path: ["certificateFile"],
    message:
      "set certificateFile and keyFile (PEM), or pkcs12File: the service requires a client certificate",
  });
}

/** The allowed names of a member or a word. */
export function names(...known: string[]) {
  return list().default(known);
}

/** One name must not be used for two members or two words. */
export function refuseNameOfTwo(given: Record<string, string[]>, context: z.RefinementCtx): void {
  const all = Object.entries(given);
  for (const [index, [key, spellings]] of all.entries())
    for (const [other, taken] of all.slice(0, index)) {
      const twice = spellings.find((one) => taken.some((name) => isSameSpelling(one, name)));
      if (twice === undefined) continue;
      const message = `"${twice}" is already used for ${other}`;
      context.addIssue({ code: "custom", path: [key], message });
    }
}
