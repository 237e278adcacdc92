// One poll of a call: what the conference data and the asynchronous request say of its end (P1 §4.2, §6.1).
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { OfConference, Conference } from "../../providers/video-identification/client.js";
import * as video from "../../providers/video-identification/client.js";
import { NotChangedYet } from "../runtime/failure.js";
import { isSatisfied, whenVisible } from "../runtime/polling.js";
import type { PollRequest } from "../runtime/polling.js";
import type { VideoCall, VideoContext } from "./context.js";

export interface VideoPollRequest extends PollRequest, Omit<VideoCall, "eventId"> {
  asyncRequest?: { parameters?: Record<string, string> | undefined } | undefined;
  /** A callback has come. It ends the call where the conference data show no state: no other event is known (P1 §6.1). */
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
  /** Shown by the provider, and not by a callback alone. */
  isProven: boolean;
  /** The close event whose token opened the conference data. */
  eventId?: string;
  fingerprint: string;
}

/** In one question: a leaked address may bring any number. The next question goes on with those that were not tried yet. */
const MAX_TOKENS_TRIED = 3;

/**
 * A state that the conference data show decides; without one, the close event at the account's secret address does. The end of an
 * asynchronous request ends its call in any case.
 */
export async function ask(context: VideoContext, given: VideoPollRequest): Promise<VideoSnapshot> {
  const stamp = await context.stamp();
  const { conference, eventId, hasEarlierEvent } = await context.throughCircuit(
    "conferenceData",
    (signal) => look(context, given, signal),
    given.idConference,
  );
  const { state: shown, verdict } = conference ?? {};
  const isDone = !isEnd(shown) && (await isAsyncDone(context, given));
  // While the service shows nothing, it lags behind its event, or the event is forged.
  const hasEvent = conference !== undefined && (given.hasCloseEvent || hasEarlierEvent);
  const state = isDone ? "closed" : (shown ?? (hasEvent ? "closed" : "open"));
  const isOver = isEnd(state);
  const isProven = shown !== undefined || isDone || eventId !== undefined;
  const fingerprint = [state, isOver, verdict].join(" ");
  if (!isSatisfied(given, fingerprint, isOver)) throw new NotChangedYet();
  return {
    ...{ stamp, state, isOver, isProven, fingerprint },
    ...(verdict !== undefined && { verdict }),
    ...(eventId !== undefined && { eventId }),
  };
}

const isEnd = (state: string | undefined) => state === "closed" || state === "rejected";

interface Looked {
  /** Absent while the provider shows none. */
  conference?: Conference | undefined;
  eventId?: string;
  /** A close event with a token has come to this run or to an earlier one. */
  hasEarlierEvent: boolean;
}

async function look(
  context: VideoContext,
  { idConference, seen }: VideoPollRequest,
  signal: AbortSignal,
): Promise<Looked> {
  const { account } = context;
  const opened = await openedByEvent(context, idConference, signal);
  if (opened.conference) return opened;
  const minting = context.newToken(idConference);
  // A conference that the provider has never known needs an operator: its id may be wrong.
  const token = await (seen === undefined ? minting : whenVisible(minting));
  const reading = token && video.conferenceData(account, { idConference, token }, signal);
  // The call may not have begun, or its data are gone.
  const conference = reading && (await whenVisible(reading));
  if (conference) refuseAnother(context, conference, idConference);
  return { ...opened, conference };
}

/**
 * An event's token counts only where its data name our conference: the event may be forged, or about another call. Whatever else the
 * service answers to it, the next one is tried; where it is busy (429) or does not answer, none.
 */
export async function openedByEvent(
  context: VideoContext,
  idConference: string,
  signal: AbortSignal,
): Promise<Looked> {
  const tokens = await context.eventTokens();
  const hasEarlierEvent = tokens.length > 0;
  for (const { eventId, token } of tokens.slice(0, MAX_TOKENS_TRIED)) {
    const opened = await openedBy(context, { idConference, token }, signal);
    if (opened === "busy") break;
    const isOurs = opened?.idConference === idConference;
    await context.deps.journal.noteSecretTried(context.process, eventId, isOurs);
    if (isOurs) return { conference: opened, eventId, hasEarlierEvent };
  }
  return { hasEarlierEvent };
}

/** Undefined where the service shows no data. */
async function openedBy(
  { account }: VideoContext,
  of: OfConference,
  signal: AbortSignal,
): Promise<Conference | "busy" | undefined> {
  try {
    return await video.conferenceData(account, of, signal);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const isBusy = error.kind === "rateLimited" || error.status === undefined;
    return isBusy ? "busy" : undefined;
  }
}

export function refuseAnother(
  context: VideoContext,
  { idConference: named }: Conference,
  idConference: string,
): void {
  if (named !== undefined && named !== idConference)
    throw context.problem("conferenceData", "the data are of another conference");
}

async function isAsyncDone(
  context: VideoContext,
  { idConference, asyncRequest }: VideoPollRequest,
): Promise<boolean> {
  if (asyncRequest === undefined) return false;
  const { parameters } = asyncRequest;
  const asked = { idConference, ...(parameters && { parameters }) };
  const asking = context.ask("getAsyncRequestInfo", video.getAsyncRequestInfo, asked);
  const answer = await whenVisible(asking);
  return answer?.state === "asyncDone";
}
