// The waits of a notice that post follows, and the recipient and the provider's people, who move both on.
import { DEADLINE_SECONDS } from "../waits.js";
import type { Waits } from "../waits.js";
import { fastSettings, serveInput } from "./inputs.js";

const spans = {
  ...fastSettings,
  notice: { ...fastSettings.notice, pollIntervalSeconds: 2 },
  post: { ...fastSettings.post, pollIntervalSeconds: 2 },
};

const served =
  (words: string, deadlineSeconds = 86_400) =>
  (id: string) =>
    serveInput(id, words, { settings: { ...spans, deadlineSeconds } });

export const serveWaits: Waits = {
  waits: [
    { name: "serve-notice", kind: "held", input: served("open"), ends: "servedByNotice" },
    {
      name: "serve-deadline",
      kind: "alone",
      input: served("delivered/delivered", DEADLINE_SECONDS),
      ends: "servedByPost",
    },
  ],
  async act({ system: { sandbox }, handle, isEnding, waitingFor }) {
    if (waitingFor !== "the notice to be served" || !isEnding) return;
    const { items } = await sandbox.items({ intent: handle.id });
    const [notice] = items;
    if (notice) await sandbox.move(notice.id, { state: "Closed", outcome: "Read" });
  },
};
