// The first activity of `sendNoticeBatch` validates the input, checks the list, and stores body, list and attachments. It calls no
// provider.
import { SendNoticeBatchInput } from "../../contracts/send-notice-batch/contract.js";
import type { BatchRecipients } from "../../contracts/send-notice-batch/contract.js";
import { plainText } from "../../contracts/shared/text.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import { derivedDocumentId } from "../../documents/document-id.js";
import { effectToken } from "../../journal/effect.js";
import type { BatchSettings as BatchFields } from "../../providers/evi-notice/client.js";
import { ownKey } from "../../batch/recipients/own-key.js";
import { checkedList, ListRefused, problemsCsv } from "../../batch/recipients/preflight.js";
import type { CheckedReport, PreflightOptions } from "../../batch/recipients/preflight.js";
import { problemFields } from "../../batch/recipients/problems.js";
import { settingsOf } from "../evi-notice/submit.js";
import { joinedKey } from "../evi/submit.js";
import { checkedReference, documentReference } from "../runtime/documents.js";
import { InvalidInput } from "../runtime/failure.js";
import type { InputCall } from "../runtime/activity.js";
import type { BatchContext, BatchAttachment, BatchPlan, SentList } from "./context.js";
import { hasLongDescription } from "./set-up.js";

/** A failure names so many problems of a list; `--preflight` shows all of them. */
const PROBLEMS_SHOWN = 20;
const KINDS_SHOWN = 20;
const TAG_DIGITS = 12;

export async function prepareBatch(context: BatchContext, given: InputCall): Promise<BatchPlan> {
  const { deps } = context;
  const input = context.parse(SendNoticeBatchInput, given.input);
  const settings = settingsOf(deps.defaults.sendNoticeBatch, input);
  const list = await checkedReference(deps, input.recipients, "submitted", "recipients");
  const { sent, check } = await sentList(context, list, input);
  const html = { base64: Buffer.from(input.body).toString("base64"), mediaType: "text/html" };
  const attachments: BatchAttachment[] = [];
  for (const [index, attachment] of (input.attachments ?? []).entries()) {
    const path = `attachments.${index}.document`;
    const document = await checkedReference(deps, attachment.document, "submitted", path);
    attachments.push({ ...attachment, document });
  }
  const { description, scheduledDate } = input;
  return {
    ...context.place,
    settings,
    deadlineSeconds: settings.deadlineSeconds,
    list: sent,
    check,
    given: list,
    ...(description !== undefined && { description }),
    body: await documentReference(deps, html, "submitted"),
    attachments,
    fields: fieldsOf(input, settings.collectAffidavits),
    ...(scheduledDate !== undefined && { scheduledDate }),
    allowedFailures: Math.max(
      settings.failureBudgetCount,
      Math.floor(((check.recipients + check.invalidRows) * settings.failureBudgetPercent) / 100),
    ),
  };
}

/** Stores the list as it goes to the provider, and where rows are left out of it, why. Throws InvalidInput for a list that is refused. */
async function sentList(
  { deps, process: processKey, account }: BatchContext,
  given: DocumentReference,
  { onInvalid = "strict", uniqueRecipients: unique = "address" }: SendNoticeBatchInput,
): Promise<{ sent: SentList; check: BatchRecipients }> {
  const { namespace, workflowId } = processKey;
  const { documents, journal } = deps;
  const options: PreflightOptions = { onInvalid, unique, problemsShown: PROBLEMS_SHOWN };
  const keyTag = account.batch.ownLookupKeys ? keyTagOf(processKey) : undefined;
  const store = async (what: string, pieces: AsyncIterable<Uint8Array>) => {
    const of = [namespace, workflowId, what, given.sha256, onInvalid, unique, keyTag ?? ""];
    const id = derivedDocumentId(...of);
    await journal.addOwner(processKey, [{ id, kind: "submitted" }]);
    return documents.putStream(pieces, "text/csv", { id, process: processKey });
  };
  let report: CheckedReport | undefined;
  async function* reported() {
    report = yield* checkedList(documents.openRead(given), {
      ...options,
      ...(keyTag !== undefined && {
        lookupKey: (line, own) => joinedKey(own, ownKey(keyTag, line)),
      }),
    });
  }
  const document = await store("recipients", reported()).catch(refuseList);
  if (!report) throw new Error("the list was not read to its end");
  const { recipients, invalidRows, addressDigest, hasSecrets, counts } = report;
  return {
    sent: {
      document,
      recipients,
      addressDigest,
      hasChallenges: hasSecrets,
      unique,
      ...(keyTag !== undefined && { keyTag }),
    },
    check: {
      recipients,
      invalidRows,
      problems: counts.slice(0, KINDS_SHOWN),
      ...(invalidRows > 0 && {
        problemsCsv: await store("problems", problemsCsv(documents.openRead(given), options)),
      }),
    },
  };
}

/** One for each batch, and the same in each run of its process. */
function keyTagOf({ namespace, workflowId }: BatchContext["process"]): string {
  const token = effectToken(namespace, workflowId, "create", "0");
  return token.replaceAll("-", "").slice(0, TAG_DIGITS);
}

function refuseList(error: unknown): never {
  throw error instanceof ListRefused ? new InvalidInput(problemFields(error.report)) : error;
}

/** An omitted filter means no callback at all (P2 §6.2). The digest of `configure` has these fields: another value is another input. */
function fieldsOf(input: SendNoticeBatchInput, collectAffidavits: boolean): BatchFields {
  const {
    account: _account,
    description,
    body: _body,
    recipients: _recipients,
    onInvalid: _onInvalid,
    uniqueRecipients: _unique,
    attachments: _attachments,
    scheduledDate: _date,
    settings: _settings,
    ...fields
  } = input;
  return {
    ...fields,
    ...(description !== undefined &&
      hasLongDescription(description) && { description: plainText(description) }),
    pushNotificationFilter: [
      "Sent",
      "Delivered",
      "Read",
      ...(input.commitmentOptions === undefined ? [] : ["Replied"]),
      "Failed",
      "Closed",
      ...(collectAffidavits ? ["AffidavitPublished"] : []),
    ],
  };
}
