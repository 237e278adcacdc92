// Which affidavit answers which on-demand request (P2 §2.12 `RequestId`; docs/reading-the-specification.md §2).
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";

/**
 * An affidavit is tied by the `RequestId` of its callback; one that no callback announced is tied as `inferred` where exactly one request
 * still waits. Ids are UUIDs, in any case.
 */
export function matchAffidavits(
  documents: ProcessDocument[],
  events: ProviderEvent[],
  requests: { requestId: string; before: number }[],
): ProcessDocument[] {
  const published = events.flatMap(({ affidavit }) => affidavit ?? []);
  // Whatever their order, the callback with a RequestId says more than one without.
  const tellingLast = published.toSorted(
    (one, other) => Number(one.requestId !== undefined) - Number(other.requestId !== undefined),
  );
  const announced = new Map(
    tellingLast.map((affidavit) => [affidavit.id.toLowerCase(), affidavit]),
  );
  const announcedAs = ({ uniqueId = "" }: ProcessDocument) => announced.get(uniqueId.toLowerCase());
  const answered = new Set(
    [...announced.values()].map(({ requestId }) => requestId?.toLowerCase()),
  );
  const waiting = requests.filter(({ requestId }) => !answered.has(requestId.toLowerCase()));
  const only = waiting.length === 1 ? waiting[0] : undefined;
  let inferred = false;
  return documents.map((document, index) => {
    const requestId = announcedAs(document)?.requestId;
    if (requestId !== undefined) return { ...document, requestId, tiedBy: "callback" };
    const mayAnswer = only && !inferred && index >= only.before && !announcedAs(document);
    if (!mayAnswer) return document;
    inferred = true;
    return { ...document, requestId: only.requestId, tiedBy: "inferred" };
  });
}
