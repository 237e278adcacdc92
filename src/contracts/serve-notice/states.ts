// When a notice is served, how the process may end, and the ids of its two processes. No zod: the workflow imports this file.

/** In the order of a notice's life (P2 §3.2). */
export const servedWhens = ["delivered", "received", "read"] as const;
export type ServedWhen = (typeof servedWhens)[number];

export const serveOutcomes = [
  "servedByNotice",
  "servedByPost",
  "servedByBoth",
  "notServed",
  "cancelledBeforeSubmit",
  "openAtDeadline",
] as const;

/** The processes that `serveNotice` starts; the id of each is its own id and the suffix. */
export const serveChildren = [
  { process: "sendNotice", suffix: ".notice" },
  { process: "sendPostal", suffix: ".post" },
] as const;
