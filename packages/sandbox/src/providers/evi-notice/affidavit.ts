// Affidavits of a notice: their kinds (P2 §2.6), and the PDF of each, made again for each request.
import { pdf } from "../../exchange/pdf.js";
import type { Affidavit } from "../evi/item.js";
import type { NoticeItem } from "./notice-item.js";

export function affidavitPdf(item: NoticeItem, affidavit: Affidavit): Buffer {
  return pdf([
    affidavit.description,
    "Trustflow sandbox: evidence of nothing",
    "",
    `Notice ${item.id}`,
    `Affidavit ${affidavit.id}, revision ${affidavit.revision}`,
    `Published ${new Date(affidavit.at).toISOString()}`,
    `Content SHA-256 ${item.bodySha256}`,
    `Submitted ${new Date(item.createdAt).toISOString()}`,
    ...(affidavit.requestId === undefined ? [] : [`Request ${affidavit.requestId}`]),
  ]);
}
