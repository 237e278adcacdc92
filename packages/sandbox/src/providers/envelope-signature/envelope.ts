// The checks of an envelope (P1 §2.10, §4.5; the nesting is assumed: not shown).
import { fieldsOf } from "../../exchange/checker.js";

export interface CheckedEnvelope {
  /** In the order of their documents. */
  fileIds: string[];
  requestToken: string;
}

/** The type of the Sign activity, `<VENDOR>` replaced by a name. */
const signType = /^GenericSigningPlugin[\w.-]+OneShot$/;

/** A string says what is wrong. */
export function checkEnvelope(body: unknown): CheckedEnvelope | string {
  const { Documents: documents, Activities: activities } = fieldsOf(body);
  if (!Array.isArray(documents) || documents.length === 0) return "Documents: is required";
  const fileIds: string[] = [];
  for (const [index, document] of documents.entries()) {
    const { FileId, DocumentNumber } = fieldsOf(document);
    const at = `Documents[${index}]`;
    if (typeof FileId !== "string" || FileId === "") return `${at}.FileId: is required`;
    if (fileIds.includes(FileId)) return `${at}.FileId: stands twice`;
    if (DocumentNumber !== index + 1) return `${at}.DocumentNumber: must be ${index + 1}`;
    fileIds.push(FileId);
  }
  const requestToken = tokenOf(activities);
  return typeof requestToken === "string" ? { fileIds, requestToken } : requestToken.problem;
}

export function tokenOf(activities: unknown): string | { problem: string } {
  if (!Array.isArray(activities)) return { problem: "Activities: is required" };
  const signs = activities
    .map((activity) => fieldsOf(fieldsOf(activity)["Action"])["Sign"])
    .filter((sign) => sign !== undefined);
  if (signs.length !== 1) return { problem: "Activities: must hold one Sign" };
  const { Type, requestToken } = fieldsOf(signs[0]);
  if (typeof Type !== "string" || !signType.test(Type))
    return { problem: `Activities: Sign.Type must match ${signType.source}` };
  return typeof requestToken === "string" && requestToken !== ""
    ? requestToken
    : { problem: "Activities: Sign.requestToken is required" };
}
