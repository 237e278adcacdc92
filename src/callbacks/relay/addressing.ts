// Assigns callbacks to an account's address to processes: the reference in the body names the process, once the answer that
// showed the reference is stored (docs/reading-the-specification.md §6). An unknown reference may become known shortly, so
// its row waits, separately from other rows, before it is parked. Where the body has a token and no reference, a worker finds
// out what the token opens (docs/decisions/0033), and the row waits for that, separately too.
import { isSealed } from "../../contracts/shared/sealed-secret.js";
import { readRows } from "../inbox/reading.js";
import type { Reader } from "../inbox/reading.js";
import { settleRows, inHalves } from "../inbox/rows.js";
import type { Referred, Settlement, UnaddressedRow } from "../inbox/rows.js";
import type { Judgement } from "../inbox/unaddressed-tokens.js";

export interface AddressingTools extends Reader {
  /** Assigns rows to the process of their reference; returns the ids of the rows whose reference is known. */
  address(referred: Referred[]): Promise<Set<string>>;
  /** Offers the tokens to the workers, and returns what these have found; undefined where no token can be kept. */
  judge(carrying: Carrying[]): Promise<Map<string, Judgement> | undefined>;
  /** So that a callback that is put back has its token tried again. */
  forget(rows: UnaddressedRow[]): Promise<void>;
  settle(rows: UnaddressedRow[], settlement: Settlement): Promise<void>;
  /** How long a reference may stay unknown. */
  unmatchedMs: number;
}

/** A row whose body has a token and no reference. */
export interface Carrying {
  row: UnaddressedRow;
  token: string;
}

type Settled = { row: UnaddressedRow; settlement: Settlement };

const FIRST_PAUSE_MS = 500;
const REFERENCE_LENGTH = 500;
/** A wait for the workers, which ends as soon as the token is judged. */
const TOKEN_PAUSE_MS = 3_600_000;
const MAX_TOKEN_PAUSES = 24;

export async function addressRows(rows: UnaddressedRow[], tools: AddressingTools): Promise<void> {
  const referred: Referred[] = [];
  const carrying: Carrying[] = [];
  const settled: Settled[] = [];
  for (const { row, said } of await readRows(rows, tools)) {
    if (isReference(said.reference)) referred.push({ row, reference: said.reference });
    else if (said.secret !== undefined && !isSealed(said.secret))
      carrying.push({ row, token: said.secret });
    else settled.push({ row, settlement: withoutReference });
  }
  await settleRows(settled, tools.settle);
  const park = ({ row }: { row: UnaddressedRow }, refusal: Settlement) =>
    tools.settle([row], refusal);
  await inHalves(
    carrying,
    async (some) => void referred.push(...(await judged(some, tools))),
    park,
  );
  await inHalves(referred, (some) => settleUnknown(some, tools), park);
}

const isReference = (text: string | undefined): text is string =>
  text !== undefined && text !== "" && text.length <= REFERENCE_LENGTH;

/** Settles the rows whose reference is not known. */
async function settleUnknown(referred: Referred[], tools: AddressingTools): Promise<void> {
  const known = await tools.address(referred);
  const unknown = referred.filter(({ row }) => !known.has(row.id));
  const settled = unknown.map(({ row }) => ({
    row,
    settlement: unmatched(row.attempts, tools.unmatchedMs),
  }));
  await settleRows(settled, tools.settle);
}

/** Settles the rows whose tokens open nothing of the account, or are not judged yet; returns the others with what these open. */
async function judged(carrying: Carrying[], tools: AddressingTools): Promise<Referred[]> {
  const judgements = await tools.judge(carrying);
  const referred: Referred[] = [];
  const settled: Settled[] = [];
  for (const { row } of carrying) {
    const { isJudged = false, reference } = judgements?.get(row.id) ?? {};
    if (reference !== undefined) referred.push({ row, reference });
    else if (isJudged) settled.push({ row, settlement: unmatchedToken(OPENS_NOTHING) });
    else if (judgements === undefined)
      settled.push({ row, settlement: unmatchedToken("keys.secretsPublic is not set") });
    else if (row.attempts > MAX_TOKEN_PAUSES)
      settled.push({
        row,
        settlement: unmatchedToken("no worker could try its token to the end within a day"),
      });
    else settled.push({ row, settlement: { state: "waiting", pauseMs: TOKEN_PAUSE_MS } });
  }
  await settleRows(settled, tools.settle);
  const parked = settled.filter(({ settlement }) => settlement.state === "parked");
  if (parked.length > 0) await tools.forget(parked.map(({ row }) => row));
  return referred;
}

const OPENS_NOTHING = "its token opens the data of no process of the account";

function unmatchedToken(detail: string): Settlement {
  return { state: "parked", reason: "unmatched", detail };
}

const withoutReference: Settlement = {
  state: "parked",
  reason: "unreadable",
  detail: "the body has no reference",
};

/** After each try, a pause as long as all pauses before it together; the last one ends at `totalMs`. */
function unmatched(attempts: number, totalMs: number): Settlement {
  const restedMs = FIRST_PAUSE_MS * (2 ** (attempts - 1) - 1);
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), totalMs - restedMs);
  return pauseMs > 0 ? { state: "waiting", pauseMs } : { state: "parked", reason: "unmatched" };
}
