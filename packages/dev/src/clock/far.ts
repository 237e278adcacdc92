// How a wait of the virtual clock looks to Temporal, whose own clock is the real one: it is ten years longer, so it never ends by
// itself there. What is beyond the ten years is its virtual length.
export const FAR_MS = 3_650 * 86_400_000;

/** Tells a process that the clock was moved. */
export const CLOCK_SIGNAL = "trustflowVirtualClock";
