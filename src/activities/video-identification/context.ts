// The activities of the video identification service work with an account, and with the token of a call.
import { cancellationSignal } from "@temporalio/activity";
import { Secret } from "../../contracts/shared/values.js";
import type { ProviderError } from "../../providers/errors/provider-error.js";
import type { OfConference } from "../../providers/video-identification/client.js";
import * as video from "../../providers/video-identification/client.js";
import { isUndecryptable } from "../../journal/errors.js";
import { measured } from "../runtime/call-metrics.js";
import { unless } from "../runtime/polling.js";
import { ProviderContext } from "../runtime/provider-context.js";

export const provider = "video-identification";

/** A conference, as every activity about it names it. */
export interface VideoCall {
  account: string;
  idConference: string;
  /** The close event whose token has opened this conference before. */
  eventId?: string | undefined;
}

export class VideoContext extends ProviderContext<typeof provider> {
  /** The tokens that the process's close events have brought, in the order in which they are tried, each with the id of its event. */
  async eventTokens(): Promise<{ eventId: string; token: Secret }[]> {
    const kept = await this.deps.journal.eventSecrets(this.process);
    return kept.flatMap(({ eventId, sealed }) => {
      const token = this.#opened(sealed);
      return token ? [{ eventId, token }] : [];
    });
  }

  /** Undefined without the key: a new token does as well. */
  #opened(sealed: string): Secret | undefined {
    try {
      return new Secret(this.deps.secrets.open(sealed, this.process));
    } catch (error) {
      if (isUndecryptable(error)) return undefined;
      throw error;
    }
  }

  /**
   * Reads with the token of the event that is named; where the service answers to it anything but the data, with a new one (P1 §5.2). An
   * event's token says nothing about the account, so this must be inside of what a circuit sees.
   */
  async withToken<T extends object>(
    { idConference, eventId }: Omit<VideoCall, "account">,
    call: (of: OfConference) => Promise<T>,
  ): Promise<T> {
    const tokens = eventId === undefined ? [] : await this.eventTokens();
    const brought = tokens.find((one) => one.eventId === eventId);
    const answer =
      brought && (await unless(isRefused, call({ idConference, token: brought.token })));
    return answer ?? call({ idConference, token: await this.newToken(idConference) });
  }

  async newToken(idConference: string): Promise<Secret> {
    const mint = measured(provider, "genAPIToken", video.genAPIToken);
    const { token } = await mint(this.account, idConference, cancellationSignal());
    return new Secret(token);
  }
}

/** The service does not accept the token: what it answers to one that has expired is not shown. */
const isRefused = ({ kind, status }: ProviderError) =>
  status !== undefined && kind !== "rateLimited";
