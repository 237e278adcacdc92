// How a wait of the virtual clock looks in Temporal, whose own clock is the real one: it is ten years longer than for its process, so
// Temporal never ends it.
const DAY_MS = 86_400_000;

export const FAR_MS = 3_650 * DAY_MS;

/** Of a poll that found nothing new: ten years more, by which the clock knows it. */
export const IDLE_MS = 2 * FAR_MS;

/** The time limit of an activity is later than each of its retries. */
export const FAR_LIMIT_MS = 3 * FAR_MS;

/** The signal that tells a process that the clock was moved. */
export const CLOCK_SIGNAL = "trustflowVirtualClock";
