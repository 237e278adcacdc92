// The call-closing event (P1 §6.1). Of its payload only the token is shown, which opens the conference's data: it is handed over
// apart from the event, so that it gets neither into a signal nor into a history.
import { accountCallback } from "../account-callback.js";
import { defaultCloseEventPointer } from "./account.js";
import { tokenOf } from "./wire.js";

export const parseAccountCallback = accountCallback<{ closeEventPointer: string }>({
  pointerOf: (account) => account?.closeEventPointer ?? defaultCloseEventPointer,
  kind: "callClosed",
  secretOf: tokenOf,
});
