// The provider sandbox: composes clock, accounts, faults, ledger, callbacks and the simulated providers behind one server.
import { setMaxListeners } from "node:events";
import { Accounts, type Account } from "./engine/accounts.js";
import { Callbacks, type CallbackState } from "./callbacks/callbacks.js";
import type { Certificate, Validity } from "./tls/certificate.js";
import { Clock, type ClockState } from "./engine/clock.js";
import { registerControl } from "./control/routes.js";
import { DocumentFiles } from "./engine/document-files.js";
import { Faults } from "./engine/faults.js";
import { Ledger, type LedgerReport } from "./engine/ledger.js";
import { resolveOptions, type SandboxOptions } from "./options.js";
import { Outbox, type OutboxMessage } from "./engine/outbox.js";
import type { SandboxParts } from "./engine/parts.js";
import { openPki, type PkiFiles } from "./tls/pki.js";
import { simulated } from "./providers/index.js";
import { registerProvider } from "./exchange/provider-routes.js";
import { RequestLog } from "./engine/request-log.js";
import { SeededIds } from "./engine/seeded.js";
import { httpServer, mutualTlsServer, portOf } from "./tls/servers.js";
import { StateFile } from "./engine/state-file.js";

export type { SandboxOptions } from "./options.js";

export interface Sandbox {
  url: string;
  port: number;
  /** Mutual TLS: the operations that need a client certificate, and no others. */
  tlsUrl: string;
  pki: PkiFiles;
  /** Of the sandbox's authority; the name is the account's. */
  issueClientCertificate(name: string, validity?: Validity): Certificate;
  clock: Clock;
  faults: Faults;
  accounts: Accounts;
  ledger(intent?: string): LedgerReport;
  messages(intent?: string): OutboxMessage[];
  close(): Promise<void>;
}

interface Snapshot {
  clock: ClockState;
  ids: Record<string, number>;
  accounts: Account[];
  faults: ReturnType<Faults["save"]>;
  ledger: ReturnType<Ledger["save"]>;
  callbacks: CallbackState;
  outbox?: OutboxMessage[];
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
  const outbox = new Outbox();
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
    personNow: options.personTime === "real" ? Date.now : () => clock.now(),
    ids,
    accounts,
    faults,
    ledger,
    callbacks,
    requests,
    outbox,
    documents: new DocumentFiles(options.stateDirectory),
    closing: closing.signal,
    changed,
    committed: async () => stateFile?.flush(),
  };
  const providers = Object.values(simulated).map((simulate) => simulate(parts));
  for (const { name, operations, hasCallbacks } of providers) {
    const names = operations.flatMap(({ name: own, other }) => (other ? [own, other.name] : [own]));
    faults.know(name, hasCallbacks ? ["callback", ...names] : names);
  }

  function snapshot(): Snapshot {
    return {
      clock: clock.save(),
      ids: ids.save(),
      accounts: accounts.save(),
      faults: faults.save(),
      ledger: ledger.save(),
      callbacks: callbacks.save(),
      outbox: outbox.save(),
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
    outbox.load(state.outbox ?? []);
    for (const provider of providers) {
      const saved = state.providers[provider.name];
      if (saved !== undefined) provider.load(saved);
    }
  }

  /** Empties everything but accounts, clock and seed. */
  async function reset(): Promise<void> {
    clock.clear();
    const { documents } = parts;
    for (const part of [faults, ledger, callbacks, outbox, requests, documents, ...providers]) {
      part.clear();
    }
    await stateFile?.flush();
  }

  const saved = await stateFile?.read();
  if (saved !== undefined) load(saved as Snapshot);
  else for (const fault of given.faults ?? []) faults.add(fault);

  // Base64 is a third larger; what is a little too large is still read, so that it gets the 400 of the specification.
  const bodyLimit = options.maxDocumentBytes * 3 + 2_000_000;
  const pki = await openPki(options.pkiDirectory);
  const plain = httpServer(bodyLimit, given.health);
  const mutualTls = mutualTlsServer(bodyLimit, pki);
  for (const provider of providers) {
    registerProvider(plain, parts, provider, false);
    registerProvider(mutualTls, parts, provider, true);
  }
  registerControl(plain, parts, providers, reset);

  const stopServing = async () => {
    await Promise.all([plain.close(), mutualTls.close()]);
    await pki.close();
  };
  const { host, port, tlsPort } = options;
  const listen = async () => ({
    url: await plain.listen({ host, port }),
    tlsUrl: await mutualTls.listen({ host, port: tlsPort }),
  });
  const urls = await listen().catch(async (error: unknown) => {
    await stopServing();
    throw error;
  });
  clock.start();
  /** A second call must not write the state over that of a sandbox that was started in its place. */
  let closed: Promise<void> | undefined;
  return {
    ...urls,
    port: portOf(plain),
    pki: pki.files,
    issueClientCertificate: pki.issue,
    clock,
    faults,
    accounts,
    ledger: (intent) => ledger.report(intent),
    messages: (intent) => outbox.list(intent),
    close: () => (closed ??= close()),
  };

  async function close(): Promise<void> {
    closing.abort();
    callbacks.close();
    await clock.stop();
    await stopServing();
    await stateFile?.flush();
  }
}
