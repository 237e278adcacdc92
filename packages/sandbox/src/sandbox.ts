// The provider sandbox: composes clock, accounts, faults, ledger, callbacks and the simulated providers behind one server.
import { setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import { Accounts } from "./engine/accounts.js";
import { Callbacks } from "./callbacks/callbacks.js";
import type { Certificate, Validity } from "./tls/certificate.js";
import { Clock } from "./engine/clock.js";
import { registerControl } from "./control/routes.js";
import { DocumentFiles } from "./engine/document-files.js";
import { Faults } from "./engine/faults.js";
import { Ledger, type LedgerReport } from "./engine/ledger.js";
import { resolveOptions, type SandboxOptions } from "./options.js";
import { Outbox, type OutboxMessage } from "./engine/outbox.js";
import type { SandboxParts } from "./engine/parts.js";
import { keeping, type Kept } from "./exchange/kept.js";
import type { SandboxProvider } from "./exchange/operation.js";
import { openPki, type PkiFiles } from "./tls/pki.js";
import { simulated } from "./providers/index.js";
import { registerProvider } from "./exchange/provider-routes.js";
import { RequestLog } from "./engine/request-log.js";
import { SeededIds } from "./engine/seeded.js";
import { httpServer, mutualTlsServer } from "./tls/servers.js";
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

export async function startSandbox(given: SandboxOptions = {}): Promise<Sandbox> {
  const options = resolveOptions(given);
  const closing = new AbortController();
  // Each answer that is held back waits for it.
  setMaxListeners(0, closing.signal);
  const state = new SandboxState(options, given.startAt ?? new Date(), closing.signal);
  await state.read(given.faults ?? []);
  const { clock, faults, accounts, ledger, callbacks, outbox } = state.parts;
  const serving = await serve(options, state, given.health);
  clock.start();
  /** A second call must not write the state over that of a sandbox that was started in its place. */
  let closed: Promise<void> | undefined;
  return {
    ...serving.urls,
    port: serving.port,
    pki: serving.pki.files,
    issueClientCertificate: serving.pki.issue,
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
    await serving.stop();
    await state.flush();
  }
}

type Options = ReturnType<typeof resolveOptions>;

/** The parts and the simulated providers, and what of them is kept in a file. */
class SandboxState {
  readonly parts: SandboxParts;
  readonly providers: SandboxProvider[];
  readonly #kept: Kept;
  readonly #file: StateFile | undefined;

  constructor(options: Options, startAt: Date, closing: AbortSignal) {
    const { stateDirectory } = options;
    this.#file =
      stateDirectory === undefined
        ? undefined
        : new StateFile(stateDirectory, () => this.#kept.save());
    const clock = new Clock(startAt.getTime(), options.speed);
    const faults = new Faults();
    const changed = () => this.#file?.touch();
    this.parts = {
      options,
      clock,
      personNow: options.personTime === "real" ? Date.now : () => clock.now(),
      ids: new SeededIds(options.seed),
      accounts: new Accounts(options.accounts),
      faults,
      ledger: new Ledger(changed),
      callbacks: new Callbacks({ clock, faults, changed }),
      requests: new RequestLog(),
      outbox: new Outbox(),
      documents: new DocumentFiles(stateDirectory),
      closing,
      changed,
      committed: () => this.flush(),
    };
    this.providers = Object.values(simulated).map((simulate) => simulate(this.parts));
    const { ids, accounts, ledger, callbacks, outbox } = this.parts;
    const byName = this.providers.map(({ name, kept }) => [name, kept] as const);
    const providers = keeping(Object.fromEntries(byName));
    this.#kept = keeping({ clock, ids, accounts, faults, ledger, callbacks, outbox, providers });
    for (const { name, operations, hasCallbacks } of this.providers) {
      const names = operations.flatMap(({ name: operation, other }) =>
        other ? [operation, other.name] : [operation],
      );
      faults.know(name, hasCallbacks ? ["callback", ...names] : names);
    }
  }

  /** `faults`: those of a sandbox that has no file yet. */
  async read(given: NonNullable<SandboxOptions["faults"]>): Promise<void> {
    const saved = await this.#file?.read();
    if (saved !== undefined) this.#kept.load(saved as never);
    else for (const fault of given) this.parts.faults.add(fault);
  }

  async flush(): Promise<void> {
    await this.#file?.flush();
  }

  /** Empties everything but accounts, clock and seed. */
  async reset(): Promise<void> {
    const { clock, faults, ledger, callbacks, outbox, requests, documents } = this.parts;
    clock.clear();
    const cleared = [faults, ledger, callbacks, outbox, requests, documents];
    for (const part of [...cleared, ...this.providers.map(({ kept }) => kept)]) part.clear();
    await this.flush();
  }
}

async function serve(options: Options, state: SandboxState, health: SandboxOptions["health"]) {
  // Base64 is a third larger; what is a little too large is still read, so that it gets the 400 of the specification.
  const bodyLimit = options.maxDocumentBytes * 3 + 2_000_000;
  const pki = await openPki(options.pkiDirectory);
  const plain = httpServer(bodyLimit, health);
  const mutualTls = mutualTlsServer(bodyLimit, pki);
  for (const provider of state.providers) {
    registerProvider(plain, state.parts, provider, false);
    registerProvider(mutualTls, state.parts, provider, true);
  }
  registerControl(plain, state.parts, state.providers, () => state.reset());
  const stop = async () => {
    await Promise.all([plain.close(), mutualTls.close()]);
    await pki.close();
  };
  const { host, port, tlsPort } = options;
  try {
    const url = await plain.listen({ host, port });
    const tlsUrl = await mutualTls.listen({ host, port: tlsPort });
    return { urls: { url, tlsUrl }, port: (plain.server.address() as AddressInfo).port, pki, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
