// The client library for business applications: one method per process, typed results and errors (docs/design.md §2, §13).
import { businessIdOf, contractOf, parseWorkflowId, processes } from "./contracts/registry.js";
import type { InputOf, ProcessName } from "./contracts/registry.js";
import { contentOf } from "./documents/content.js";
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/client";
import type { Client, ClientOptions, Connection } from "@temporalio/client";
import {
  InputMismatchError,
  InvalidInputError,
  NamespaceMissingError,
  UnknownProcessError,
  UnprovenAnswerError,
  UnreachableError,
  WrongCodecKeyError,
} from "./errors/index.js";
import { refuseUnlessIterable, wrongArgument } from "./errors/arguments.js";
import {
  notAProcess,
  objectArgument,
  refuseUnlessProcess,
  refuseUnlessTemporal,
  refuseUnlessText,
} from "./client/arguments.js";
import { changesOf } from "./client/changes.js";
import type { Change, ChangesOptions } from "./client/changes.js";
import {
  asJson,
  differences,
  refuseOversize,
  refuseUnreadable,
  withDocuments,
} from "./client/input.js";
import type { SignDecision, Started, Writing } from "./client/handle.js";
import { handles, Starts, refuseOwnNames, temporalOptions } from "./client/processes.js";
import type { AnyHandle, HandleOf, StartedHandle, StartOptions } from "./client/processes.js";
import { pageOf, rowsOf } from "./client/list.js";
import type { ListedProcess, ListPage } from "./client/list.js";
import type { ListFilter, PageRequest } from "./client/list-request.js";
import { isUnavailable, typedRefusal } from "./client/refusal.js";
import { refuseManyOptions, startSome } from "./client/start-many.js";
import type { StartManyOptions, StartOutcome, StartRequest } from "./client/start-many.js";
import { firstUpdate } from "./client/update-with-start.js";
import {
  beginWait,
  contextOf,
  endCalls,
  endWithConnection,
  stepsWithin,
  wrongWait,
} from "./client/waiting.js";
import type { Waiting } from "./client/waiting.js";
import { isReadable, loadConfig, ringOf } from "./config/config.js";
import type { Config } from "./config/config.js";
import type { ClientConfiguration } from "./config/client-configuration.js";
import { documentStoreOf } from "./config/document-store.js";
import { requireTls } from "./config/clear-text.js";
import { businessIdProblem, workflowIdOf, workflowTaskQueue } from "./contracts/shared/names.js";
import { checkInput } from "./contracts/shared/problems.js";
import { comparedInput, withSecrets } from "./contracts/definition/secret-fields.js";
import type { Contract } from "./contracts/definition/secret-fields.js";
import { erasedProblem } from "./contracts/shared/failures.js";
import { signDecision } from "./crypto/decision-signature.js";
import { isUndecryptable } from "./crypto/errors.js";
import type { KeyRing } from "./crypto/key-ring.js";
import {
  clientRefusesPlaintext,
  mayOnlyRead,
  payloadKeys,
  readingRing,
  writingRefused,
} from "./config/payload-keys.js";
import type { DocumentStore } from "./documents/store.js";
import { ClientCodec, isPlaintextRefused } from "./temporal/codec/client-codec.js";
import { EncryptionCodec } from "./temporal/codec/codec.js";
import { connectClient, connectionOptions, hostInClear } from "./temporal/connection.js";
import type { ConnectionOverrides } from "./temporal/connection.js";
import { grpcOf, status } from "./temporal/grpc-status.js";
import { firstInput } from "./temporal/visibility/first-input.js";
import { SecretSealer } from "./temporal/codec/secrets.js";
import { foreignKeys } from "./temporal/visibility/foreign-keys.js";

export * from "./errors/index.js";
export { ProcessHandle } from "./client/handle.js";
export type { Change, ChangesOptions } from "./client/changes.js";
export type { Started, UpdateCall } from "./client/handle.js";
export {
  CertificateHandle,
  EnvelopeHandle,
  MessageHandle,
  OneShotHandle,
  PostalHandle,
} from "./client/processes.js";
export type { ListedProcess, ListPage } from "./client/list.js";
export type {
  ListedState,
  ListFilter,
  ListOrder,
  PageRequest,
  SortKey,
} from "./client/list-request.js";
export type { AnyHandle, HandleOf, StartedHandle, StartOptions } from "./client/processes.js";
export type { StartManyOptions, StartOutcome, StartRequest } from "./client/start-many.js";
export type { Waiting } from "./client/waiting.js";
export type { ClientConfiguration, SecretSource } from "./config/client-configuration.js";
export type * from "./contracts/index.js";
export type { InputOf, ResultOf } from "./contracts/registry.js";

/** How to connect. What is absent comes from trustflow.toml, temporal.toml and the environment. */
export interface ConnectOptions
  extends ConnectionOverrides, Waiting, Pick<ClientOptions, "interceptors" | "plugins"> {
  /** Goes before trustflow.toml and the environment, key by key. Default: none of its keys. */
  configuration?: ClientConfiguration;
  /** A connection of your own, which `close` leaves open. Default: a new one. */
  connection?: Connection;
  /**
   * A Temporal client of your own: its connection, namespace, identity and interceptors are used, and its data converter is not. Default: a
   * new one.
   */
  client?: Client;
}

const connectMembers = [
  "address",
  "namespace",
  "env",
  "configuration",
  "connection",
  "client",
  "interceptors",
  "plugins",
] satisfies (keyof ConnectOptions)[];

/** What a class that extends `Trustflow` gives to its constructor. */
export interface Opened {
  /** The Temporal client, with its connection. */
  connected: Awaited<ReturnType<typeof connectClient>>;
  /** The keys that open payloads. */
  ring: KeyRing;
  /** The configuration as it was read. */
  config: Config;
}

/**
 * Starts, finds and lists processes. Each process has a method of its name (`Starts`). Every call throws `UnreachableError` while Temporal is
 * away, `AccessDeniedError` and `TemporalRefusedError` where it refuses the call, and `TimedOutError` after the caller's `timeoutMs`.
 */
export class Trustflow extends Starts {
  readonly #connected: Opened["connected"];
  readonly #ring: KeyRing;
  readonly #config: Config;
  readonly #sealer: SecretSealer | undefined;
  readonly #sign: SignDecision;
  #documents?: DocumentStore;
  readonly #closing = new AbortController();

  protected constructor({ connected, ring, config }: Opened) {
    super();
    this.#connected = connected;
    this.#ring = ring;
    this.#config = config;
    const { secretsPublic } = config.keys;
    this.#sealer = secretsPublic && new SecretSealer(ringOf(config, "secretsPublic"));
    this.#sign = signerOf(config, connected.client.options.namespace);
  }

  /**
   * Reads trustflow.toml, temporal.toml and the environment; an error names the missing key. Throws the errors of
   * docs/reference/client-errors.md.
   */
  static async connect(options: ConnectOptions = {}): Promise<Trustflow> {
    return new Trustflow(await Trustflow.open(options));
  }

  protected static async open(options: ConnectOptions): Promise<Opened> {
    const refused = wrongWait(options, connectMembers);
    if (refused) throw refused;
    const { signal, timeoutMs, configuration, client, ...overrides } = options;
    const { env, connection } = overrides;
    if (env !== undefined) objectArgument(env, "env");
    for (const name of ["address", "namespace"] as const)
      if (overrides[name] !== undefined) refuseUnlessText(overrides[name], name);
    if (client !== undefined) refuseUnlessTemporal(client, "workflow", "client");
    if (connection !== undefined) refuseUnlessTemporal(connection, "workflowService", "connection");
    const within = beginWait({ signal, timeoutMs });
    const config = loadConfig(overrides.env, configuration);
    const ring = readingRing(config);
    const { writeRing } = mayOnlyRead(config) ? {} : payloadKeys(config);
    const refusePlaintext = clientRefusesPlaintext(config);
    const said = Object.entries(overrides).filter(([, value]) => value !== undefined);
    const given: Omit<ConnectOptions, "client"> = {
      ...(client && givenBy(client)),
      ...Object.fromEntries(said),
    };
    requireTls(config, "TEMPORAL_ADDRESS", hostInClear(connectionOptions(given), given.connection));
    const opening = connectClient(ring, { ...given, writeRing, refusePlaintext });
    const connected = await within(() => opening).catch((error: unknown) => {
      // A connection that comes too late serves nobody.
      void opening.then(({ close }) => close()).catch(() => undefined);
      throw error;
    });
    if (connected.isOwn) endWithConnection(connected.connection);
    try {
      await within(() => requireOwnKeys(connected.client, ring), connected.connection);
    } catch (error) {
      await connected.close();
      throw error;
    }
    return { connected, ring, config };
  }

  /** Stores and fetches documents; throws if `documents.directory` or `keys.documents` is not configured. */
  get documents(): Pick<DocumentStore, "put" | "get" | "putStream" | "openRead"> {
    return this.#store;
  }

  get #store(): DocumentStore {
    return (this.#documents ??= documentStoreOf(this.#config));
  }

  /** The underlying Temporal client, with the codec and the namespace. */
  get temporal(): Client {
    return this.#connected.client;
  }

  /** Ends `changes`, and closes the connection if it is not one of your own; a call under way on it throws `UnreachableError`. */
  async close(): Promise<void> {
    this.#closing.abort();
    endCalls(this.temporal.connection);
    await this.#connected.close();
  }

  /** The process must exist; `id` is `<process>/<business id>`. */
  handle<P extends ProcessName>(id: `${P}/${string}`): HandleOf<P> {
    return this.#handle(id);
  }

  #handle<P extends ProcessName>(
    id: `${P}/${string}`,
    started?: Started,
    start?: Writing["start"],
  ): HandleOf<P> {
    refuseUnlessText(id, "id");
    const parsed = parseWorkflowId(id);
    if (!parsed) throw new UnknownProcessError(id, wrongIn(id));
    const writing: Writing = {
      check: () => this.#refuseToWrite(),
      sign: this.#sign,
      ...(this.#sealer && {
        seal: (contract, value) => this.#sealed(contract, value, id),
      }),
      ...(start && { start }),
    };
    const Handle = handles[parsed.process];
    return new Handle(this.temporal, parsed.process, parsed.id, writing, started) as HandleOf<P>;
  }

  /** The same for a business id without its process, if just one process has it. */
  find(id: string, waiting: Waiting = {}): Promise<AnyHandle> {
    return beginWait(waiting, this.temporal.connection)(() => this.#find(id));
  }

  async #find(id: string): Promise<AnyHandle> {
    refuseUnlessText(id, "id");
    if (id.includes("/")) return this.handle(id as `${ProcessName}/${string}`);
    const candidates = processes.map((name) => this.handle(workflowIdOf(name, id)));
    const known = await Promise.all(
      candidates.map((handle) =>
        handle.isOpen().catch((error: unknown) => {
          if (error instanceof UnknownProcessError) return undefined;
          throw error;
        }),
      ),
    );
    const found = candidates.filter((_, index) => known[index] !== undefined);
    if (found.length > 1)
      throw wrongArgument("id", "matches several processes: use <process>/<business id>");
    if (!found[0]) throw new UnknownProcessError(id);
    return found[0];
  }

  /** All processes that meet the filter, as Temporal's visibility shows them, which lags. It reads on as you iterate. */
  list(wanted: ListFilter & Waiting = {}): AsyncIterable<ListedProcess> {
    const { signal, timeoutMs, ...filter } = objectArgument(wanted, "filter");
    const within = beginWait({ signal, timeoutMs }, this.temporal.connection);
    return stepsWithin(within, this.#typedList(filter));
  }

  /** One page of a list; the next one begins where this one ends. */
  async listPage(wanted: PageRequest & Waiting): Promise<ListPage> {
    const { signal, timeoutMs, ...request } = objectArgument(wanted, "request");
    const within = beginWait({ signal, timeoutMs }, this.temporal.connection);
    return within(() =>
      pageOf(this.temporal, request).catch((error: unknown) => {
        throw this.#refusal(error);
      }),
    );
  }

  async *#typedList(filter: ListFilter): AsyncGenerator<ListedProcess> {
    try {
      yield* rowsOf(this.temporal, filter);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /**
   * Follows the ends and the needed decisions of all processes, of whoever started them. At least once: a change that came may come again
   * after a resumption, with the same `id`. It goes on where Temporal was away, and ends with `close`. `docs/webhooks.md` says what it does
   * not see.
   */
  async *changes(options: ChangesOptions = {}): AsyncGenerator<Change> {
    const refused = wrongWait(options, ["since", "intervalMs"]);
    if (refused) throw refused;
    const closing = this.#closing.signal;
    const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing;
    try {
      yield* changesOf(this.temporal, { ...options, signal });
    } catch (error) {
      if (!closing.aborted) throw this.#refusal(error);
    }
  }

  #beginStart(options: StartOptions) {
    const refused = wrongWait(options, temporalOptions);
    if (refused) throw refused;
    const { signal, timeoutMs, ...temporal } = options;
    return { temporal, within: beginWait({ signal, timeoutMs }, this.temporal.connection) };
  }

  #refusal(error: unknown): unknown {
    const { connection, options } = this.temporal;
    return typedRefusal(error, options.namespace, contextOf(connection).abortSignal);
  }

  override async start<P extends ProcessName>(
    processName: P,
    id: string,
    input: object,
    options: StartOptions = {},
  ): Promise<StartedHandle<P>> {
    const { within, temporal } = this.#beginStart(options);
    return within(() => this.#start(processName, id, input, temporal));
  }

  /**
   * Starts the process as `start` does, and makes the update of `first` in the same request to Temporal:
   *
   * `updateWithStart("issueCertificate", id, holder, (handle) => handle.awaitOtp())`
   *
   * The answer is that of the update. Where the process is there with the same input, the update goes to it. Another input is refused with
   * `InputMismatchError`, and the update is not made. An update that a worker refuses, or does not answer, leaves a started process. Give
   * the update an `updateId` of your own: the same call with the same ids may then be made again, and neither process nor update is doubled.
   */
  async updateWithStart<P extends ProcessName, Answer>(
    processName: P,
    id: string,
    input: InputOf<P>,
    first: (handle: HandleOf<P>) => Promise<Answer>,
    options: Omit<StartOptions, "startDelay"> = {},
  ): Promise<{ handle: StartedHandle<P>; answer: Answer }> {
    const { within, temporal } = this.#beginStart(options);
    return within(() => this.#updateWithStart(processName, id, input, first, temporal));
  }

  /**
   * Starts a process for each request, some at once, and yields each outcome as it comes. A request whose process is there with the same
   * input joins it, so the same requests may be given again after a crash; a process that failed is started again. A failed start does not
   * end the others, unless there are more than `maxFailures`: then this throws `TooManyFailuresError` after the last outcome. What is no
   * request ends it with `InvalidInputError`, after the outcomes of the starts before it.
   */
  startMany<P extends ProcessName>(
    processName: P,
    requests: Iterable<StartRequest<InputOf<P>>> | AsyncIterable<StartRequest<InputOf<P>>>,
    options: StartManyOptions = {},
  ): AsyncIterable<StartOutcome<StartedHandle<P>>> {
    const { signal, timeoutMs, ...many } = objectArgument(options, "options");
    refuseUnlessProcess(processName);
    refuseUnlessIterable(requests, "requests", "must be an iterable of { id, input }");
    refuseManyOptions(many);
    const within = beginWait({ signal, timeoutMs }, this.temporal.connection);
    const start = ({ id, input }: StartRequest<InputOf<P>>) =>
      this.start(processName, id, input, { signal });
    const over = new AbortController();
    const outcomes = startSome(requests, start, { ...many, signal: over.signal });
    return stepsWithin(within, outcomes, () => over.abort());
  }

  async #updateWithStart<P extends ProcessName, Answer>(
    processName: P,
    id: string,
    input: object,
    first: (handle: HandleOf<P>) => Promise<Answer>,
    options: Omit<StartOptions, keyof Waiting>,
  ): Promise<{ handle: StartedHandle<P>; answer: Answer }> {
    if (options.startDelay !== undefined)
      throw wrongArgument("options.startDelay", "is not possible: the update is made at once");
    if (typeof first !== "function") throw wrongArgument("first", "must be a function");
    const { request, refuseAnother } = await this.#prepared(processName, id, input, options);
    const { workflowId } = request;
    const { workflow } = this.temporal;
    const { start, started } = firstUpdate(workflow, processName, request, refuseAnother);
    const answer = await first(this.#handle(workflowId, undefined, start));
    const what = started();
    if (!what)
      throw wrongArgument(
        "first",
        "must make an update of the handle, wait for it, and throw what it throws",
      );
    return { handle: this.#handle(workflowId, what) as StartedHandle<P>, answer };
  }

  async #start<P extends ProcessName>(
    processName: P,
    id: string,
    input: object,
    options: Omit<StartOptions, keyof Waiting>,
  ): Promise<StartedHandle<P>> {
    const { request, refuseAnother } = await this.#prepared(processName, id, input, options);
    const { workflowId } = request;
    const started = await this.temporal.workflow
      .start(processName, request)
      .then((): Started => "created")
      .catch(async (error: unknown): Promise<Started> => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await refuseAnother();
        return "joined";
      })
      .catch((error: unknown) => {
        if (!isUnavailable(error)) throw this.#refusal(error);
        throw new UnreachableError(
          `${workflowId}: Temporal cannot be reached; start it again with the same id`,
        );
      });
    return this.#handle(workflowId, started) as StartedHandle<P>;
  }

  /** The start as Temporal takes it, and what refuses another input where the process is there. Nothing is started yet. */
  async #prepared<P extends ProcessName>(
    processName: P,
    id: string,
    given: object,
    options: Omit<StartOptions, keyof Waiting>,
  ) {
    this.#refuseToWrite();
    refuseUnlessProcess(processName);
    const { input: schema, title } = contractOf(processName);
    const problems = [
      ...checkInput(businessIdOf(processName), id, ["id"]).fields,
      ...checkInput(schema, given).fields,
    ];
    if (problems.length > 0) throw new InvalidInputError(problems);
    const input = asJson(given);
    // JSON leaves out what a class shows by getters.
    const { fields } = checkInput(schema, input);
    if (fields.length > 0) throw new InvalidInputError(fields);
    refuseOversize(input);
    refuseOwnNames(options);
    const workflowId = workflowIdOf(processName, id);
    await this.#refuseErased(workflowId);
    const sent = await this.#withReferences(input, workflowId);
    const compared = comparedInput(schema, sent, contentOf);
    const { account = "default" } = sent as { account?: string };
    const request = {
      staticSummary: `${title} ${id}`,
      ...options,
      // Activities and children inherit it, so a crowd of one account does not hold up another account's calls.
      priority: { fairnessKey: account, ...options.priority },
      workflowId,
      taskQueue: workflowTaskQueue,
      args: [this.#sealed(schema, sent, workflowId)],
      // Like USE_EXISTING, but the client knows it, so that only a second start reads the first input from the server.
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    };
    const refuseAnother = () => this.#refuseAnother(processName, workflowId, compared);
    return { request, refuseAnother };
  }

  /** Seals each secret for the workers, if `keys.secretsPublic` is set (docs/design.md §8). */
  #sealed(contract: Contract, value: unknown, workflowId: string): unknown {
    const sealer = this.#sealer;
    if (!sealer) return value;
    const processKey = { namespace: this.#connected.namespace, workflowId };
    return withSecrets(contract, value, (secret) => sealer.seal(secret, processKey));
  }

  #refuseToWrite(): void {
    if (mayOnlyRead(this.#config)) throw writingRefused();
  }

  /** The first input is in the history, whichever client started the process (docs/design.md §2). */
  async #refuseAnother(
    processName: ProcessName,
    workflowId: string,
    compared: object,
  ): Promise<void> {
    const first = await this.#firstInput(workflowId);
    const { input: schema } = contractOf(processName);
    const known =
      typeof first === "object" && first !== null ? comparedInput(schema, first, contentOf) : first;
    const paths = differences(known, JSON.parse(JSON.stringify(compared)));
    // A document is compared by its digest, and known by its own name.
    const members = paths.map((path) => path.replace(/\.sha256$/, ""));
    if (members.length > 0) throw new InputMismatchError(workflowId, members);
  }

  async #firstInput(workflowId: string): Promise<unknown> {
    const codec = new EncryptionCodec(this.#ring);
    if (!clientRefusesPlaintext(this.#config)) return firstInput(this.temporal, codec, workflowId);
    const first = await firstInput(this.temporal, new ClientCodec(codec), workflowId).catch(
      (error: unknown) => {
        throw isPlaintextRefused(error) ? new UnprovenAnswerError(workflowId) : error;
      },
    );
    if (first === undefined) throw new UnprovenAnswerError(workflowId);
    return first;
  }

  /** What was sent under its id is no longer known. A worker would refuse it too, but only after a history exists. */
  async #refuseErased(workflowId: string): Promise<void> {
    if (!this.#hasStore) return;
    const { namespace } = this.#connected;
    if (await this.#store.dataKeys.isErased({ namespace, workflowId }))
      throw wrongArgument("id", erasedProblem);
  }

  /** Stores inline documents first, so that no bytes are in a history; checks stored ones, if the store is configured. */
  async #withReferences(input: object, workflowId: string): Promise<object> {
    const { namespace } = this.#connected;
    const sent = await withDocuments(input, async (document, path) => {
      if ("base64" in document) {
        const bytes = Buffer.from(document.base64, "base64");
        const put = (options = {}) => this.#store.put(bytes, document.mediaType, options);
        return put({ process: { namespace, workflowId } }).catch((error: unknown) => {
          // The ring lacks the key of a restarted process. That process waits for the key; this start does not.
          if (!isUndecryptable(error)) throw error;
          return put();
        });
      }
      if (this.#hasStore) await refuseUnreadable(this.documents, document, path);
      return document;
    });
    return sent as object;
  }

  /** A client that only starts processes may lack the key of the documents. */
  get #hasStore(): boolean {
    const { documents, keys } = this.#config;
    return documents.directory !== undefined && isReadable(keys.documents);
  }
}

/** Refuses a ring that is not that of the workers, as far as their processes show it. */
async function requireOwnKeys(client: Client, ring: KeyRing): Promise<void> {
  const { namespace } = client.options;
  try {
    const keyIds = await foreignKeys(client, new EncryptionCodec(ring), processes);
    if (keyIds.length > 0) throw new WrongCodecKeyError(namespace, keyIds);
  } catch (error) {
    const { code } = grpcOf(error);
    if (code === status.notFound) throw new NamespaceMissingError(namespace);
    // Who may not list, or whose server cannot, is not refused for that.
    if (typeof code !== "number" || isUnavailable(error)) throw typedRefusal(error, namespace);
  }
}

/** Of a Temporal client that a caller has. */
function givenBy({ connection, options }: Client) {
  const { namespace, identity, interceptors } = options;
  return { connection: connection as Connection, namespace, identity, interceptors };
}

/** Signs with the key of `keys.operator`; the key's id is the operator's name. */
function signerOf(config: Config, namespace: string): SignDecision {
  if (config.keys.operator === undefined) return () => undefined;
  const { id: operator, bytes } = ringOf(config, "operator").active;
  return (decision) => {
    const at = new Date().toISOString();
    const value = signDecision(bytes, { ...decision, namespace, operator, at });
    return { operator, at, value };
  };
}

/** The problem with an invalid id. */
function wrongIn(id: string): string {
  const [name = ""] = id.split("/", 1);
  if (name === id) return "must be <process>/<business id>; find() takes the business id alone";
  const known = processes.some((one) => one === name);
  return known ? `the business id ${businessIdProblem}` : notAProcess(name);
}
