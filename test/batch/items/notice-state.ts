// What is known of one notice of a batch, as pure functions: the SQL of src/batch/items/items.ts and the columns `closed`, `confirmed` and
// `is_read` of its table are compared with them (notice-state.test.ts).
//
// Who says the state. "Since" means: asked when the callback had come.
//
// | newest callback | no read showed a state | open, before the callback | open, since    | closed                   |
// |-----------------|------------------------|---------------------------|----------------|--------------------------|
// | none            | only its id is known   | –                         | query          | query, closed, confirmed |
// | open            | callback               | callback                  | query          | query, closed, confirmed |
// | closed          | callback, closed       | callback, closed          | query, open    | query, closed, confirmed |
//
// What replaces what is known:
//
// | another …                              | replaces the newest one                                                       |
// |----------------------------------------|-------------------------------------------------------------------------------|
// | callback, both open or both closed     | if its date is later; then if its rank is higher; then if its outcome is larger |
// | callback: closed after open            | always                                                                        |
// | callback: open after closed            | never                                                                         |
// | read, asked no later than the last one | never                                                                         |
// | read, once the end is confirmed        | never                                                                         |
// | read that shows a state                | else always                                                                   |
// | read that shows nothing                | only the time of the question                                                 |

/** The newest callback. */
export interface HeardState {
  state: string;
  rank: number;
  /** The provider's date. */
  at: Date;
  cameAt: Date;
  outcome?: string;
}

/** The newest read; without `state` none has shown one. */
export interface ShownState {
  askedAt: Date;
  state?: string;
  /** When the read was asked that showed `state`. */
  shownAt?: Date;
  outcome?: string;
}

export interface NoticeKnown {
  heard?: HeardState;
  shown?: ShownState;
}

const END = "Closed";

export function stateOf({ heard, shown }: NoticeKnown) {
  const isRead =
    shown?.shownAt !== undefined &&
    (heard === undefined || shown.state === END || shown.shownAt >= heard.cameAt);
  const { state, outcome } = (isRead ? shown : heard) ?? {};
  return {
    ...{ state, outcome, at: isRead ? shown.shownAt : heard?.at },
    source: isRead ? "query" : heard ? "callback" : "recipients",
    isClosed: state === END,
    isConfirmed: shown?.state === END,
  } as const;
}

export function afterCallback(known: NoticeKnown, heard: HeardState): NoticeKnown {
  return known.heard && !isNewer(heard, known.heard) ? known : { ...known, heard };
}

function isNewer(one: HeardState, other: HeardState): boolean {
  const order = ({ state, at, rank, outcome = "" }: HeardState) =>
    [Number(state === END), at.getTime(), rank, outcome] as const;
  const mine = order(one);
  const differs = order(other).findIndex((value, index) => value !== mine[index]);
  return differs >= 0 && (mine[differs] ?? 0) > (order(other)[differs] ?? 0);
}

export function afterRead(
  known: NoticeKnown,
  read: Pick<ShownState, "askedAt" | "state" | "outcome">,
): NoticeKnown {
  const { shown } = known;
  if (shown && (shown.state === END || read.askedAt <= shown.askedAt)) return known;
  const { askedAt, state } = read;
  return {
    ...known,
    shown: state === undefined ? { ...shown, askedAt } : { ...read, shownAt: askedAt },
  };
}
