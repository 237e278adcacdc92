// One POST of a callback; at most so many at a time.
import { setMaxListeners } from "node:events";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { got } from "got";

const PARALLEL_POSTS = 64;

export interface CallbackAnswer {
  status?: number;
  error?: string;
}

export class CallbackPost {
  readonly #timeoutMs: number;
  readonly #agent = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  };
  readonly #abort = new AbortController();
  readonly #waiting: (() => void)[] = [];
  #free = PARALLEL_POSTS;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    setMaxListeners(0, this.#abort.signal);
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted;
  }

  async send(url: string, body: string): Promise<CallbackAnswer> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const { statusCode } = await got.post(url, {
        body,
        headers: { "content-type": "application/json; charset=utf-8" },
        retry: { limit: 0 },
        timeout: { request: this.#timeoutMs },
        throwHttpErrors: false,
        followRedirect: false,
        signal: this.#abort.signal,
        agent: this.#agent,
      });
      return { status: statusCode };
    } catch (error) {
      return { error: (error as { code?: string }).code ?? "failed" };
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  close(): void {
    this.#abort.abort();
    this.#agent.http.destroy();
    this.#agent.https.destroy();
  }
}
