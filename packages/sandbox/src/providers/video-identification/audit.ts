// The audit data of a conference (P1 §2.7: not shown): made anew for each request, always the same bytes.
import { zipSync } from "fflate";
import { bytesAnswer, type Answer } from "../../exchange/answer.js";
import { pdf } from "../../exchange/pdf.js";
import { verdictOf, type Conference } from "./conference.js";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const LARGE_BYTES = 8_000_000;
/** The same at each time, so that the bytes are the same too. */
const MTIME = new Date(2026, 0, 1);

/** When they can be read; undefined: never. */
export function auditAt({ closedAt, words, state }: Conference): number | undefined {
  if (closedAt === undefined || state !== "closed" || words.includes("audit-never"))
    return undefined;
  return closedAt + (words.includes("audit-late") ? DAY : MINUTE);
}

export function auditAnswer(conference: Conference): Answer {
  const { id, words, createdAt, closedAt = createdAt } = conference;
  const facts = {
    idConference: id,
    verdict: verdictOf(conference),
    startedAt: new Date(createdAt).toISOString(),
    closedAt: new Date(closedAt).toISOString(),
    evidence: "Trustflow sandbox: evidence of nothing",
  };
  if (words.includes("audit-pdf")) {
    const lines = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
    return bytesAnswer("application/pdf", pdf(lines));
  }
  const json = Buffer.from(JSON.stringify(facts));
  if (words.includes("audit-zip")) {
    const zip = zipSync({ "audit.json": new Uint8Array(json) }, { level: 0, mtime: MTIME });
    return bytesAnswer("application/zip", Buffer.from(zip));
  }
  if (!words.includes("audit-large")) return bytesAnswer("application/json", json);
  const large = Buffer.alloc(LARGE_BYTES, "0");
  large.write(`${json.toString().slice(0, -1)},"recording":"`);
  large.write('"}', LARGE_BYTES - 2);
  return bytesAnswer("application/octet-stream", large);
}
