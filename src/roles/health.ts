// Every role answers over HTTP: GET /health with 200 while the role is alive; GET /ready with 200 while it can work, else with 503 and the
// missing service; GET /metrics with its metrics.
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface HealthOptions {
  /** The services that the role needs, by the name that /ready shows: false, an error, or a sentence that says why, while one is missing. */
  needs?: Record<string, () => unknown>;
  /** More of what /ready shows. */
  details?: () => object;
}

export interface Endpoint {
  url: string;
  close(): Promise<void>;
}

/** A registry of prom-client, for example. */
export interface MetricsSource {
  contentType: string;
  metrics(): Promise<string>;
}

interface Where {
  host: string;
  port: number;
}

const MAX_LOOK_MS = 2_000;

export class Health {
  readonly #options: HealthOptions;
  #look: Promise<Missing> | undefined;
  #isEnding = false;

  constructor(options: HealthOptions = {}) {
    this.#options = options;
  }

  /** From now on /ready answers 503, so that load balancers send no more work. */
  end(): void {
    this.#isEnding = true;
  }

  /** Answers a request for one of these paths; returns false for any other request. */
  readonly answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.method !== "GET") return false;
    if (request.url === "/health") send(response, 200, { ok: true });
    else if (request.url === "/ready") void this.#answerReady(response);
    else return false;
    return true;
  };

  async #answerReady(response: ServerResponse): Promise<void> {
    const { ok, ...missing } = await this.look();
    send(response, ok ? 200 : 503, { ok, ...missing, ...this.#options.details?.() });
  }

  /** Says what /ready says. */
  async look(): Promise<{ ok: boolean; waitingFor?: string[]; why?: Record<string, string> }> {
    const missing = await this.#missing();
    if (this.#isEnding) return { ok: false, waitingFor: ["shutdown"] };
    const waitingFor = missing.map(([name]) => name);
    const why = missing.filter((one): one is [string, string] => one[1] !== undefined);
    if (waitingFor.length === 0) return { ok: true };
    return { ok: false, waitingFor, ...(why.length > 0 && { why: Object.fromEntries(why) }) };
  }

  // Requests are unauthenticated, so concurrent ones share one check.
  #missing(): Promise<Missing> {
    this.#look ??= missingOf(this.#options.needs ?? {}).finally(() => (this.#look = undefined));
    return this.#look;
  }
}

/** For roles without another HTTP server. */
export function startHealth({ health, ...at }: Where & { health: Health }): Promise<Endpoint> {
  return serve(at, (request, response) => {
    if (health.answer(request, response)) return;
    send(response, 404, { error: "only GET /health and GET /ready exist" });
  });
}

export function startMetrics({
  source,
  ...at
}: Where & { source: MetricsSource }): Promise<Endpoint> {
  return serve(at, ({ method, url }, response) => {
    if (method !== "GET" || url !== "/metrics")
      return send(response, 404, { error: "only GET /metrics exists" });
    source.metrics().then(
      (text) => response.writeHead(200, { "content-type": source.contentType }).end(text),
      () => send(response, 500, { ok: false }),
    );
  });
}

async function serve(at: Where, answer: RequestListener): Promise<Endpoint> {
  const server = createServer((request, response) => {
    response.setHeader("connection", "close");
    answer(request, response);
  });
  server.requestTimeout = 5_000;
  server.listen(at.port, at.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = at.host.includes(":") ? `[${at.host}]` : at.host;
  return {
    url: `http://${host}:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close").catch(() => undefined);
    },
  };
}

/** Names, each with the reason where it is known. */
type Missing = [string, string | undefined][];

async function missingOf(needs: NonNullable<HealthOptions["needs"]>): Promise<Missing> {
  const looks = Object.entries(needs).map(async ([name, need]): Promise<Missing> => {
    const found = await answerOf(need);
    if (typeof found === "string") return [[name, found]];
    return found === false ? [[name, undefined]] : [];
  });
  return (await Promise.all(looks)).flat();
}

/** False where it rejects or does not answer in time. */
async function answerOf(need: () => unknown): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, MAX_LOOK_MS, false);
  });
  try {
    return await Promise.race([need(), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
