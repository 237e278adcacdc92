// The provider sandbox: composes clock, accounts, faults, ledger, callbacks and the simulated providers behind one server.
import { fastify } from "fastify";
import { setMaxListeners } from "node:events";
import { Accounts, type Account } from "./accounts.js";
import { Callbacks, type CallbackState } from "./callbacks.js";
import { Clock, type ClockState } from "./clock.js";
import { registerControl } from "./control-routes.js";
import { DocumentShelf } from "./document-shelf.js";
import { eviPost } from "./evi-post/evi-post.js";
import { Faults } from "./faults.js";
import { Ledger, type LedgerReport } from "./ledger.js";
import type { SandboxProvider } from "./operation.js";
import { resolveOptions, type SandboxOptions } from "./options.js";
import type { SandboxParts } from "./parts.js";
import { registerProvider } from "./provider-routes.js";
import { RequestLog } from "./request-log.js";
import { SeededIds } from "./seeded.js";
import { StateFile } from "./state-file.js";

export type { SandboxOptions } from "./options.js";

export interface Sandbox {
  url: string;
  port: number;
  clock: Clock;
  faults: Faults;
  accounts: Accounts;
  ledger(intent?: string): LedgerReport;
  close(): Promise<void>;
}

interface Snapshot {
  clock: ClockState;
  ids: Record<string, number>;
  accounts: Account[];
  faults: ReturnType<Faults["save"]>;
  ledger: ReturnType<Ledger["save"]>;
  callbacks: CallbackState;
  providers: Record<string, unknown>;
}

export async function startSandbox(given: SandboxOptions = {}): Promise<Sandbox> {
  const options = resolveOptions(given);
  const closing = new AbortController();
  // Each answer that is held back waits for it.
  setMaxListeners(0, closing.signal);
  const clock = new Clock((given.startAt ?? new Date()).getTime(), options.speed);
  const faults = new Faults();
  const accounts = new Accounts(options.accounts);
  const ledger = new Ledger();
  const ids = new SeededIds(options.seed);
  const requests = new RequestLog(options.logSize);
  const stateFile =
    options.stateDirectory === undefined
      ? undefined
      : new StateFile(options.stateDirectory, snapshot);
  const changed = () => stateFile?.touch();
  const { callbackTimeoutMs: timeoutMs, logSize } = options;
  const callbacks = new Callbacks({ clock, faults, timeoutMs, logSize, changed });
  const parts: SandboxParts = {
    options,
    clock,
    ids,
    accounts,
    faults,
    ledger,
    callbacks,
    requests,
    documents: new DocumentShelf(options.stateDirectory),
    closing: closing.signal,
    changed,
    committed: async () => stateFile?.flush(),
  };
  const providers: SandboxProvider[] = [eviPost(parts)];
  for (const { name, operations } of providers) {
    faults.know(
      name,
      operations.map((operation) => operation.name),
    );
  }

  function snapshot(): Snapshot {
    return {
      clock: clock.save(),
      ids: ids.save(),
      accounts: accounts.save(),
      faults: faults.save(),
      ledger: ledger.save(),
      callbacks: callbacks.save(),
      providers: Object.fromEntries(providers.map((provider) => [provider.name, provider.save()])),
    };
  }

  function load(state: Snapshot): void {
    clock.load(state.clock);
    ids.load(state.ids);
    accounts.load(state.accounts);
    faults.load(state.faults);
    ledger.load(state.ledger);
    callbacks.load(state.callbacks);
    for (const provider of providers) {
      const saved = state.providers[provider.name];
      if (saved !== undefined) provider.load(saved);
    }
  }

  /** Empties everything but accounts, clock and seed. */
  async function reset(): Promise<void> {
    clock.clear();
    for (const part of [faults, ledger, callbacks, requests, parts.documents, ...providers]) {
      part.clear();
    }
    await stateFile?.flush();
  }

  const saved = await stateFile?.read();
  if (saved !== undefined) load(saved as Snapshot);
  else for (const fault of given.faults ?? []) faults.add(fault);

  // Base64 is a third larger; what is a little too large is still read, so that it gets the 400 of the specification.
  const bodyLimit = options.maxDocumentBytes * 3 + 2_000_000;
  const server = fastify({
    logger: false,
    bodyLimit,
    forceCloseConnections: true,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
  });
  server.addHook("onRequest", (request, reply, done) => {
    if (given.health?.(request.raw, reply.raw)) reply.hijack();
    else done();
  });
  for (const provider of providers) registerProvider(server, parts, provider);
  registerControl(server, parts, providers, reset);
  const address = await server.listen({ host: options.host, port: options.port });
  clock.start();
  const bound = server.server.address();
  const port = typeof bound === "object" && bound ? bound.port : options.port;
  return {
    url: address,
    port,
    clock,
    faults,
    accounts,
    ledger: (intent) => ledger.report(intent),
    async close() {
      closing.abort();
      callbacks.close();
      await clock.stop();
      await server.close();
      await stateFile?.flush();
    },
  };
}
