// The postal API as it travels (P2 §2.1–2.5, §4.1, §7.1), in the provider's spelling. Requests are strict, responses are
// read loosely; what decides identity (ids, state, lookup key, affidavits) is not, so that nothing real is read as absent.
import { z } from "zod";
import { textOf, Word } from "../errors/outside.js";
import { utcInstant } from "../http/instant.js";

export const routes = {
  submit: { method: "POST", path: "/v1/EviPost/Submit" },
  query: { method: "GET", path: "/v1/EviPost/Query" },
  requestAffidavit: { method: "POST", path: "/v1/EviPost/AffidavitRequest" },
  cancel: { method: "POST", path: "/v1/EviPost/Cancel" },
} as const;

/** P2 §4.1, assumed: a GET takes the ids as one comma-separated value, as `WithUniqueIds` does; a POST as a JSON array. */
export const IDS_SEPARATOR = ",";

/** P2 §4.1, Query. `OnState` and `WithOutcome` are never sent ("contact support before use"). */
export const queryParameters = {
  uniqueIds: "WithUniqueIds",
  lookupKeys: "WithLookupKeys",
  orderBy: "OrderResultsBy",
  offset: "Offset",
  limit: "Limit",
  includeDocument: "IncludeDocumentOnResult",
  includeAffidavits: "IncludeAffidavitsOnResult",
  includeBlobs: "IncludeAffidavitBlobsOnResult",
} as const;

const Text = textOf(500).optional().catch(undefined);
const Id = z.string().min(1);
const Instant = z.unknown().transform(utcInstant).optional();

/** P2 §4.1: Submit and Cancel answer with it. */
export const UniqueIdAnswer = z.looseObject({ uniqueId: Id });
/** P2 §4.1, AffidavitRequest. */
export const RequestIdAnswer = z.looseObject({ requestId: Id });

/** P2 §2.5; what else they hold is dropped. */
export const Address = z.object({
  streetAddress: Text,
  postalCode: Text,
  locality: Text,
  region: Text,
  country: Text,
});
export const Affidavit = z.object({
  uniqueId: Id,
  date: Instant,
  evidenceUniqueId: Text,
  description: Text,
  bytes: z.string().nullish(),
});
export type Affidavit = z.infer<typeof Affidavit>;

/** P2 §2.5. */
export const ResultItem = z.looseObject({
  evidenceId: Id,
  state: Word,
  lookupKey: z.string().nullish(),
  outcome: Word.optional().catch(undefined),
  recipientName: Text,
  costCentre: Text,
  timeToLive: z.number().optional().catch(undefined),
  stateDate: Instant,
  lastStateChangeDate: Instant,
  outcomeDate: Instant,
  creationDate: Instant,
  submittedOn: Instant,
  processedOn: Instant,
  sentOn: Instant,
  address: Address.optional().catch(undefined),
  affidavits: z.array(Affidavit).nullish(),
});
export type ResultItem = z.infer<typeof ResultItem>;

/** P2 §2.5: the list. */
export const QueryAnswer = z.looseObject({
  results: z.array(ResultItem),
  totalMatches: z.int().nonnegative(),
});

/** P2 §7.1. */
export const ErrorAnswer = z.looseObject({
  responseStatus: z.looseObject({
    errorCode: Text,
    message: Text,
    errors: z
      .array(z.looseObject({ errorCode: Text, fieldName: Text, message: Text }))
      .optional()
      .catch(undefined),
  }),
});
