// What the simulated providers would have sent to a person: the only place where a one-time password can be read.
export interface OutboxMessage {
  /** Virtual time. */
  at: string;
  provider: string;
  intent: string | null;
  channel: "SMS" | "EMAIL";
  to: string;
  text: string;
  /** The code that the text carries. */
  otp?: string;
}

export class Outbox {
  #messages: OutboxMessage[] = [];

  add(message: OutboxMessage): void {
    this.#messages.push(message);
  }

  /** Oldest first. */
  list(intent?: string): OutboxMessage[] {
    return this.#messages.filter((message) => intent === undefined || message.intent === intent);
  }

  clear(): void {
    this.#messages = [];
  }

  save(): OutboxMessage[] {
    return this.#messages;
  }

  load(messages: OutboxMessage[]): void {
    this.#messages = messages;
  }
}
