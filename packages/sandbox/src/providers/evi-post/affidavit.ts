// Affidavits: their names and PDFs. A PDF is created again for each request, from the stored data.
import { pdf } from "../../exchange/pdf.js";
import type { Affidavit } from "../evi/item.js";
import type { AffidavitMoment } from "./lifecycle.js";
import type { PostItem } from "./post-item.js";

export const descriptions: Record<AffidavitMoment, string> = {
  submit: "Affidavit of submission",
  close: "Affidavit of closure",
  "on-demand": "Affidavit on demand",
};

export function affidavitPdf(item: PostItem, affidavit: Affidavit): Buffer {
  return pdf([
    affidavit.description,
    "Trustflow sandbox: evidence of nothing",
    "",
    `Communication ${item.id}`,
    `Affidavit ${affidavit.id}, revision ${affidavit.revision}`,
    `Published ${new Date(affidavit.at).toISOString()}`,
    `Service ${item.service}, profile ${item.profile}`,
    `Document SHA-256 ${item.documentSha256}`,
    `Submitted ${new Date(item.createdAt).toISOString()}`,
    ...(affidavit.requestId === undefined ? [] : [`Request ${affidavit.requestId}`]),
  ]);
}
