// When a notice is served, and the ids of its two processes. No zod: the workflow imports this file.

/** In the order of a notice's life (P2 §3.2). */
export const servedWhens = ["delivered", "received", "read"] as const;
export type ServedWhen = (typeof servedWhens)[number];

/** The processes that `serveNotice` starts; the id of each is its own id and the suffix. */
export const serveChildren = [
  { process: "sendNotice", suffix: ".notice" },
  { process: "sendPostal", suffix: ".post" },
] as const;
