// What the callbacks' tests share: keys, subjects, a provider's POST, and a Temporal client whose answers the test gives.
import { randomUUID } from "node:crypto";
import { callbackUrl } from "../../src/callbacks/address.js";
import type { ProcessSubject, Subject } from "../../src/callbacks/address.js";
import type { Source } from "../../src/callbacks/inbox/reading.js";
import type { SignalArgument, SignalClient } from "../../src/callbacks/relay/signaller.js";
import { providerEvents, surplus } from "../../src/contracts/shared/messages.js";
import type { ProviderEvent } from "../../src/contracts/shared/provider-event.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../src/crypto/sealed-box.js";
import { parseCallback } from "../../src/providers/evi-post/callback.js";

export const ring = KeyRing.parse(generateKeyRing("callback"));
/** The receiver's, and what the relay opens with. */
const box = generateBoxRing("inbox");
export const sealRing = KeyRing.parse(box.publicRing);
export const bodyKeys = KeyRing.parse(box.privateRing);

export function subjectOf(over: Partial<ProcessSubject> = {}): ProcessSubject {
  return {
    provider: "test",
    namespace: "default",
    workflowId: `sendPostal/${randomUUID()}`,
    ...over,
  };
}

export function post(
  url: string,
  subject: Subject,
  body: unknown,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(callbackUrl(ring, url, subject), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}

/** A real one, and the `test` provider: `{ Identifier, correlation? }`, an event that says no more than its id. */
export const parsers = {
  "evi-post": parseCallback,
  test(body: unknown): { event: ProviderEvent; correlation?: string } {
    const { Identifier, note, correlation } = body as Record<string, string | undefined>;
    if (Identifier === undefined) throw new Error("unreadable");
    return {
      event: {
        id: Identifier,
        kind: "Sent",
        at: "2026-01-01T00:00:00.000Z",
        ...(note && { note }),
      },
      ...(correlation !== undefined && { correlation }),
    };
  },
};

/** Of an account's address: `{ Identifier, request_pk }`, the second one being the reference. */
export const sources = {
  "test-account"(_account, body, receivedAt) {
    const { Identifier, request_pk } = body as Record<string, string | undefined>;
    if (Identifier === undefined) throw new Error("unreadable");
    const event = { id: Identifier, kind: "signed", at: receivedAt.toISOString() };
    return { event, reference: request_pk };
  },
} satisfies Record<string, Source>;

export interface Signalled {
  workflowId: string;
  ids: string[];
}

/** Records every signal; `answer` may throw what Temporal would. */
export class FakeTemporal implements SignalClient {
  readonly signals: Signalled[] = [];
  /** Processes that were told of surplus callbacks, each with its number. */
  readonly surplus: { workflowId: string; count: number }[] = [];
  /** That of the last call. */
  deadline = 0;
  answer: (signal: Signalled, events: ProviderEvent[]) => void | Promise<void> = () => undefined;

  getHandle(workflowId: string) {
    return {
      signal: async (name: string, argument: SignalArgument) => {
        if (name !== (Array.isArray(argument) ? providerEvents : surplus).name)
          throw new Error(`a signal that no process takes: ${name}`);
        if (!Array.isArray(argument)) {
          await this.answer({ workflowId, ids: [] }, []);
          this.surplus.push({ workflowId, ...argument });
          return;
        }
        const events = argument;
        const signal = { workflowId, ids: events.map(({ id }) => id) };
        await this.answer(signal, events);
        this.signals.push(signal);
      },
    };
  }

  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R> {
    this.deadline = Number(deadline);
    return fn();
  }

  /** As a new one. */
  forget(): void {
    this.signals.length = 0;
    this.surplus.length = 0;
    this.answer = () => undefined;
  }

  to(workflowId: string): string[] {
    return this.signals
      .filter((signal) => signal.workflowId === workflowId)
      .flatMap(({ ids }) => ids);
  }
}
