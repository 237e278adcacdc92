// A call's data and its audit are kept as documents, and the audit is deleted at the provider (P1 §4.2).
import { createHash } from "node:crypto";
import { Secret } from "../../contracts/shared/values.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { uriOf } from "../../documents/document-id.js";
import type { Pieces } from "../../documents/store.js";
import { mayExist } from "../../journal/row.js";
import type { ProviderError } from "../../providers/errors/provider-error.js";
import * as video from "../../providers/video-identification/client.js";
import { auditMediaType } from "../../providers/video-identification/wire.js";
import type { StepCall } from "../runtime/activity.js";
import {
  asInvalidInput,
  checkDocument,
  keepFile,
  unlessMissing,
  wasSent,
} from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import { unless } from "../runtime/polling.js";
import type { AttemptMode } from "../runtime/failure.js";
import { openedByEvent, refuseAnother } from "./ask.js";
import type { VideoCall, VideoContext } from "./context.js";

const DELETION = "deleteAudit";

/** `isOptional`: undefined where the provider shows none. */
type Keeping = VideoCall & { isOptional: boolean; mode: AttemptMode };

export async function keepConference(
  context: VideoContext,
  { isOptional, ...call }: Keeping,
): Promise<ProcessDocument | undefined> {
  const reading = context.throughCircuit(
    "conferenceData",
    (signal) => context.withToken(call, (of) => video.conferenceData(context.account, of, signal)),
    call.idConference,
  );
  const conference = await (isOptional ? unless(isNone, reading) : reading);
  if (conference === undefined) return undefined;
  refuseAnother(context, conference, call.idConference);
  const { body } = conference;
  const sha256 = createHash("sha256").update(body).digest("hex");
  const ids = [call.idConference, "conference"];
  const target = { kind: "conference", ids, mediaType: "application/json" } as const;
  return keepFile(context, target, { sha256, pieces: () => [body] });
}

export async function keepAudit(
  context: VideoContext,
  { isOptional, ...call }: Keeping,
): Promise<ProcessDocument | undefined> {
  const { account, deps } = context;
  return deps.documents.withSpool(async (spool) => {
    const downloading = context.throughCircuit(
      "getAuditData",
      (signal) => context.withToken(call, (of) => video.getAuditData(account, of, spool, signal)),
      call.idConference,
    );
    const audit = await unless(isNone, downloading);
    if (audit === undefined) {
      const mayBeDeleted = (await context.rowsOf(DELETION)).some(wasSent);
      const before = mayBeDeleted ? await newestCopy(context) : undefined;
      if (before || isOptional) return before;
    }
    // Rejects with the service's own answer, where it shows none.
    const { file, mediaType } = audit ?? (await downloading);
    return keepFile(context, { kind: "audit", ids: [call.idConference, "audit"], mediaType }, file);
  });
}

/** The service answers that it has none, whatever its status for that is (P1 §7.3: no error is shown). A web page is no such answer. */
const isNone = ({ kind, status = 0 }: ProviderError) =>
  kind === "notVisibleYet" || (kind === "protocol" && status >= 400) || status === 409;

/** For an audit that may be deleted at the provider: by this run, by an earlier one, or before a reset. */
function newestCopy(context: VideoContext): Promise<ProcessDocument | undefined> {
  return unlessMissing(context, "getAuditData", foundCopy(context).catch(asInvalidInput("audit")));
}

async function foundCopy(context: VideoContext): Promise<ProcessDocument | undefined> {
  const {
    deps: { journal, documents },
    process: processKey,
  } = context;
  const owned = await journal.ownedOf(processKey, "audit");
  let [id] = owned;
  for (const one of owned) {
    // A worker may have been killed before it stored the newest one.
    if (!(await documents.exists(uriOf(one)))) continue;
    id = one;
    break;
  }
  if (id === undefined) return undefined;
  const uri = uriOf(id);
  let start: Buffer = Buffer.alloc(0);
  for await (const piece of documents.openRead({ uri })) {
    start = piece;
    break;
  }
  // The content is the same, so this stores nothing: it finds the reference again.
  const document = await documents.putStream(documents.openRead({ uri }), auditMediaType(start), {
    id,
    process: processKey,
  });
  return { kind: "audit", document };
}

/**
 * `isProven`: the provider itself has shown that the call is over. Where a callback alone says it, the audit may be of a call that goes
 * on, so an operator has to ask for the deletion (`retry`).
 */
type Deletion = StepCall & VideoCall & { document: DocumentReference; isProven: boolean };

/**
 * P1 §4.2; only once all of the stored copy was read and has its hash. A copy that is missing by then waits for an operator. Returns the
 * copy that is the last one, where it is another than `document`.
 */
export async function deleteAudit(
  context: VideoContext,
  { effect, document, isProven, ...call }: Deletion,
): Promise<ProcessDocument | undefined> {
  const { account, deps } = context;
  const { idConference } = call;
  const earlier = await context.rowsOf(DELETION);
  const decisions = earlier.flatMap((row) => row.decisions);
  const isAgreed = (question: string) =>
    decisions.some(({ decision, reason }) => decision === "retry" && reason?.includes(question));
  const isAnswered = earlier.some(({ state }) => state === "answered");
  if (!isProven && !isAnswered && !isAgreed(unproven))
    if (!(await isProvenByEvent(context, idConference)))
      throw context.problem("deleteAuditData", unproven);
  const isRepetition = earlier.some(mayExist);
  // The copy may be from before the end.
  const again = () =>
    isRepetition ? newestCopy(context) : keepAudit(context, { ...call, isOptional: true });
  const last = (isProven ? undefined : await again()) ?? { kind: "audit", document };
  const newer = last.document.uri === document.uri ? undefined : last;
  if (isAnswered) return newer;
  // Both come before the journal's row, which says that a request may have gone out.
  const checking = checkDocument(deps.documents, last.document, "audit");
  await unlessMissing(context, "deleteAuditData", checking);
  if (!isAgreed(notWhole) && !(await isWhole(deps.documents.openRead(last.document))))
    throw context.problem("deleteAuditData", notWhole);
  const { token } = await context.ask("genAPIToken", video.genAPIToken, idConference);
  await runEffect(context, effect, {
    operation: "deleteAuditData",
    input: { idConference },
    about: idConference,
    async send({ signal }) {
      const of = { idConference, token: new Secret(token), isRepetition };
      await video.deleteAuditData(account, of, signal);
    },
  });
  return newer;
}

/** An event that came after the end was taken from a callback alone. */
async function isProvenByEvent(context: VideoContext, idConference: string): Promise<boolean> {
  const { eventId } = await context.throughCircuit(
    "conferenceData",
    (signal) => openedByEvent(context, idConference, signal),
    idConference,
  );
  return eventId !== undefined;
}

const unproven =
  "a callback alone says that the call has ended, so its audit may not be whole; retry keeps it anew and deletes it at the provider";

/** What may stand behind the end of a ZIP archive, and more than stands behind that of a PDF or of JSON. */
const TAIL_BYTES = 66_000;

/** Whether a copy is JSON, a PDF or a ZIP archive by its first and its last bytes: what was cut off, or is an error's text, is none. */
async function isWhole(pieces: Pieces): Promise<boolean> {
  let start: Buffer | undefined;
  let tail: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    start ??= Buffer.from(piece);
    tail = Buffer.concat([tail, piece]).subarray(-TAIL_BYTES);
  }
  const end = tail.toString("latin1");
  switch (auditMediaType(start ?? tail)) {
    case "application/json":
      return /[}\]]\s*$/.test(end);
    case "application/pdf":
      return end.slice(-2_000).includes("%%EOF");
    case "application/zip":
      return end.includes("PK\u0005\u0006");
    default:
      return false;
  }
}

const notWhole =
  "what was kept as the audit is no whole JSON, PDF or ZIP: look at the document; retry deletes the audit at the provider";
