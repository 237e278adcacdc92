// Configuration keys that the accounts of several providers share.
import { z } from "zod";
import { isSameSpelling } from "../contracts/shared/values.js";
import { list, matching, number, plain, renewedSecret, text } from "./fields.js";

/** A lease outlives its call. */
export const timeoutSeconds = number(30, "of one call; below `journal.leaseSeconds`");

/** A client certificate: PEM files, or PKCS#12 (P1 §5.1, §5.5); read again when the files change. */
export const clientCertificate = {
  certificateFile: text()
    .optional()
    .describe(
      "client certificate in PEM, with `keyFile`; or `pkcs12File` instead of both ([client certificates](install.md#client-certificates))",
    ),
  keyFile: text().optional().describe("its key in PEM"),
  pkcs12File: text().optional().describe("certificate and key in one PKCS#12 file"),
  passphrase: renewedSecret()
    .optional()
    .describe("secret; of either key; one of a file is read again when it changes"),
  caFile: text()
    .optional()
    .describe(
      "PEM; the authorities that the provider's own certificate is checked by; without it the public ones and `NODE_EXTRA_CA_CERTS`",
    ),
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
  return list()
    .default(known)
    .describe(
      "list; assumed: the names that this member of an answer may have; the first one that is there counts, and case, `_` and `-` do not matter",
    );
}

/** The words of a state that mean one of ours. */
export function spellings(...known: string[]) {
  return names(...known).describe(
    "list; assumed: the words of a state that mean this; any other word passes as it came",
  );
}

/** The name of a member or part of a request. */
export function sentAs(name: string, by = "the name by which a request has this member or part") {
  return text().default(name).describe(`assumed: ${by}`);
}

/** How the token stands in a request. */
export const tokenKeys = (prefix: string) => ({
  tokenHeader: matching(/^[\w!#$%&'*+.^`|~-]+$/, "must be the name of a header")
    .default("Authorization")
    .describe("assumed: the header that carries the token"),
  tokenPrefix: z
    .preprocess(plain, z.string())
    .default(prefix)
    .describe("assumed: what stands right before the token, with its space"),
});

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
