// Starts many processes, some at once. Requests are read as fast as starts end, so memory does not grow with their number.
import { InvalidInputError, TooManyFailuresError, TrustflowError } from "../errors/index.js";
import type { FieldProblem } from "../contracts/shared/failures.js";
import { objectArgument, unknownMember } from "./arguments.js";
import type { Waiting } from "./waiting.js";

/** One of many processes to start. */
export interface StartRequest<Input> {
  /** The business id, without personal data. */
  id: string;
  /** As the method of the process takes it. */
  input: Input;
}

/** `handle` where the process is there: its `started` says whether this start created it. Else `error` says why not. */
export type StartOutcome<Handle> =
  | { id: string; handle: Handle; error?: never }
  | { id: string; handle?: never; error: TrustflowError };

/** How many starts are made at once, and when to stop. */
export interface StartManyOptions extends Waiting {
  /** How many starts are made at once. Default: 10. */
  concurrency?: number;
  /** After more failed starts than this no other one is made. Default: no limit. */
  maxFailures?: number;
}

const DEFAULT_CONCURRENCY = 10;

export function refuseManyOptions(options: StartManyOptions): void {
  const unknown = unknownMember(options, ["concurrency", "maxFailures"], "options");
  if (unknown) throw unknown;
  const { concurrency = 1, maxFailures = 0 } = options;
  const fields: FieldProblem[] = [];
  if (!Number.isInteger(concurrency) || concurrency < 1)
    fields.push({ path: "options.concurrency", problem: "must be a whole number from 1" });
  if (!(maxFailures >= 0))
    fields.push({ path: "options.maxFailures", problem: "must be a number from 0" });
  if (fields.length > 0) throw new InvalidInputError(fields);
}

/**
 * Yields each outcome as it comes. Throws after the last one: what is no error of the client's, or TooManyFailuresError. After `signal`
 * nothing more is started.
 */
export async function* startSome<Input, Handle>(
  requests: Iterable<StartRequest<Input>> | AsyncIterable<StartRequest<Input>>,
  start: (request: StartRequest<Input>) => Promise<Handle>,
  { concurrency = DEFAULT_CONCURRENCY, maxFailures = Infinity, signal }: StartManyOptions,
): AsyncGenerator<StartOutcome<Handle>> {
  const source = (async function* () {
    yield* requests;
  })();
  const running = new Set<Promise<void>>();
  const ended: StartOutcome<Handle>[] = [];
  let reading: Promise<void> | undefined;
  let isAtEnd = false;
  let isOver = false;
  let failures = 0;
  let position = 0;
  let broken: { error: unknown } | undefined;

  const mayStart = () => failures <= maxFailures && !broken && !isOver && !signal?.aborted;
  const begin = ({ id, input }: StartRequest<Input>) => {
    const one = start({ id, input })
      .then((handle) => void ended.push({ id, handle }))
      .catch((error: unknown) => {
        if (!(error instanceof TrustflowError)) return void (broken ??= { error });
        failures += 1;
        ended.push({ id, error });
      })
      .finally(() => running.delete(one));
    running.add(one);
  };
  const read = async () => {
    try {
      const { done, value } = await source.next();
      if (done) isAtEnd = true;
      else if (mayStart()) begin(objectArgument(value, `requests.${position++}`));
    } catch (error) {
      broken ??= { error };
    }
    reading = undefined;
  };

  try {
    for (;;) {
      if (mayStart() && !isAtEnd && running.size < concurrency) reading ??= read();
      const pending = [...running, ...(reading && mayStart() ? [reading] : [])];
      if (pending.length === 0 && ended.length === 0) break;
      // While the caller looked at an outcome, others may have come.
      if (ended.length === 0) await Promise.race(pending);
      yield* ended.splice(0);
    }
    if (broken) throw broken.error;
    if (failures > maxFailures) throw new TooManyFailuresError(failures, maxFailures);
  } finally {
    isOver = true;
    // A source that is waiting for its next request ends after it.
    source.return().catch(() => undefined);
  }
}
