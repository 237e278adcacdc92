// One poll of a call: what the conference data and the asynchronous request say of its end (P1 §4.2, §6.1).
import { activityInfo } from "@temporalio/activity";
import { ProviderError } from "../../providers/errors/provider-error.js";
import * as video from "../../providers/video-identification/client.js";
import type { Conference } from "../../providers/video-identification/client.js";
import { NotChangedYet } from "../runtime/failure.js";
import { isSatisfied } from "../runtime/polling.js";
import type { PollRequest } from "../runtime/polling.js";
import { provider, unlessRefused } from "./context.js";
import type { Call, VideoContext } from "./context.js";

export interface VideoPollRequest extends PollRequest, Omit<Call, "eventId"> {
  asyncRequest?: { parameters?: Record<string, string> | undefined } | undefined;
  /** A close event has come. It ends the call where the conference data show no state. */
  hasCloseEvent: boolean;
}

export interface VideoSnapshot {
  /** The database's clock before the question was sent. */
  stamp: string;
  /** `open`, `closed`, `rejected`, or the provider's own word. */
  state: string;
  isOver: boolean;
  /** `verified`, `notVerified`, or the provider's own word. */
  verdict?: string;
  /** The close event whose token opened the conference data. */
  eventId?: string;
  fingerprint: string;
}

/** How many of the newest tokens are tried: a leaked address may bring any number. */
const MAX_TOKENS_TRIED = 3;

/**
 * A state that the conference data show decides. Without one, the close event at the account's secret address does, or the end of the
 * asynchronous request.
 */
export async function ask(context: VideoContext, given: VideoPollRequest): Promise<VideoSnapshot> {
  const stamp = (await context.deps.journal.now()).toISOString();
  const { conference, eventId, hasToken } = await context.throughCircuit(
    "conferenceData",
    (signal) => look(context, given, signal),
    given.idConference,
  );
  const { state: shown, verdict } = conference ?? {};
  const hasEnded = given.hasCloseEvent || hasToken || (await isAsyncDone(context, given));
  const state = shown ?? (hasEnded ? "closed" : "open");
  const isOver = state === "closed" || state === "rejected";
  const fingerprint = [state, isOver, verdict].join(" ");
  if (!isSatisfied(given, fingerprint, isOver)) throw new NotChangedYet();
  return {
    ...{ stamp, state, isOver, fingerprint },
    ...(verdict !== undefined && { verdict }),
    ...(eventId !== undefined && { eventId }),
  };
}

interface Looked {
  /** Absent while the provider shows none. */
  conference?: Conference | undefined;
  eventId?: string;
  /** A close event with a token has come, also to an earlier run. */
  hasToken: boolean;
}

/** An event's token counts only where its data name our conference: the event may be forged, or about another call. */
async function look(
  context: VideoContext,
  { idConference }: VideoPollRequest,
  signal: AbortSignal,
): Promise<Looked> {
  const { account } = context;
  const tokens = await context.eventTokens();
  const hasToken = tokens.length > 0;
  for (const { eventId, token } of tokens.slice(0, MAX_TOKENS_TRIED)) {
    const reading = shownOnly(video.conferenceData(account, { idConference, token }, signal));
    const conference = (await unlessRefused(reading))?.value;
    if (conference?.idConference === idConference) return { conference, eventId, hasToken };
  }
  const token = await context.newToken(idConference).catch(unknownAfterAWhile(context));
  const conference = await shownOnly(
    video.conferenceData(account, { idConference, token }, signal),
  );
  const { idConference: about = idConference } = conference ?? {};
  if (about !== idConference)
    throw new ProviderError({ ...isAnother, provider, operation: "conferenceData" });
  return { conference, hasToken };
}

/** Undefined for data that are not there yet: the call may not have begun. */
async function shownOnly(reading: Promise<Conference>): Promise<Conference | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === "notVisibleYet") return undefined;
    throw error;
  }
}

/** A conference that stays unknown to the provider needs an operator: its id may be wrong. */
function unknownAfterAWhile({ deps }: VideoContext): (error: unknown) => never {
  return (error) => {
    const isNew = Date.now() - activityInfo().scheduledTimestampMs < deps.invisibleForMs;
    if (isNew || !(error instanceof ProviderError) || error.kind !== "notVisibleYet") throw error;
    throw new ProviderError({ ...isUnknown, provider, operation: "genAPIToken" });
  };
}

async function isAsyncDone(
  context: VideoContext,
  { idConference, asyncRequest }: VideoPollRequest,
): Promise<boolean> {
  if (asyncRequest === undefined) return false;
  const { parameters } = asyncRequest;
  const asked = { idConference, ...(parameters && { parameters }) };
  const asking = context.throughCircuit("getAsyncRequestInfo", (signal) =>
    video.getAsyncRequestInfo(context.account, asked, signal),
  );
  const answer = await asking.catch((error: unknown) => {
    if (error instanceof ProviderError && error.kind === "notVisibleYet") return undefined;
    throw error;
  });
  return answer?.state === "asyncDone";
}

const isAnother = {
  kind: "protocol",
  effect: "none",
  problem: "the data are of another conference",
} as const;

const isUnknown = {
  kind: "protocol",
  effect: "none",
  problem: "the provider knows no conference with this id",
} as const;
