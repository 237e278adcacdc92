// What a business application imports: one method for each process, typed results, typed errors (docs/design.md §2, §13).
import { contentOf } from "./documents/content.js";
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/client";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import {
  InputMismatchError,
  InvalidInputError,
  UnknownProcessError,
  UnprovenAnswerError,
} from "./client/errors.js";
import type { SignDecision, Writing } from "./client/handle.js";
import { handles } from "./client/handles.js";
import type { AnyHandle, HandleOf } from "./client/handles.js";
import { ProcessStarts } from "./client/starts.js";
import { refuseOversize, refuseUnreadable, withDocuments } from "./client/input.js";
import { isReadable, loadConfig, required, ringOf } from "./config.js";
import type { Config } from "./config.js";
import { contractOf } from "./contracts/registry.js";
import {
  inputDigestMemo,
  parseWorkflowId,
  processes,
  searchAttributes,
  workflowIdOf,
  workflowTaskQueue,
} from "./contracts/shared/names.js";
import type { ProcessName, ProposedDecision } from "./contracts/shared/names.js";
import { suggestionFor } from "./contracts/shared/nearest.js";
import { checkInput } from "./contracts/shared/problems.js";
import { withSecrets } from "./contracts/shared/secret-fields.js";
import type { Contract } from "./contracts/shared/secret-fields.js";
import { comparedInput } from "./contracts/shared/compared-input.js";
import { erasedProblem } from "./contracts/shared/failures.js";
import { BusinessId } from "./contracts/shared/values.js";
import { signDecision } from "./crypto/decision-signature.js";
import { isLocked } from "./crypto/errors.js";
import type { KeyRing } from "./crypto/key-ring.js";
import {
  clientRefusesPlaintext,
  mayOnlyRead,
  payloadKeys,
  readingRing,
  writingRefused,
} from "./payload-keys.js";
import { DirectoryDriver } from "./documents/directory-driver.js";
import { DocumentStore } from "./documents/store.js";
import { ClientCodec, isPlaintextRefused } from "./temporal/codec/client-codec.js";
import { EncryptionCodec } from "./temporal/codec/codec.js";
import { connectClient } from "./temporal/connection.js";
import type { ConnectionOverrides } from "./temporal/connection.js";
import { firstInput } from "./temporal/visibility/first-input.js";
import { proposalsOf } from "./temporal/visibility/listed.js";
import { SecretSealer } from "./temporal/codec/secrets.js";
import { inputDigest } from "./temporal/input-digest.js";
import { candidatesQuery, isRunning, ofTypes, filterStuck } from "./temporal/visibility/stuck.js";
import type { Stuck } from "./temporal/visibility/stuck.js";
import { withoutMemos } from "./temporal/visibility/without-memos.js";

export * from "./client/errors.js";
export { ProcessHandle } from "./client/handle.js";
export {
  CertificateHandle,
  EnvelopeHandle,
  MessageHandle,
  OneShotHandle,
  PostalHandle,
} from "./client/handles.js";
export type { AnyHandle, HandleOf } from "./client/handles.js";
export type { InputOf, ResultOf } from "./contracts/registry.js";
export type {
  IssueCertificateInput,
  IssueCertificateResult,
} from "./contracts/issue-certificate.js";
export type { SendMessageInput, SendMessageResult } from "./contracts/send-message.js";
export type { SendPostalInput, SendPostalResult } from "./contracts/send-postal.js";
export type { SignEnvelopeInput, SignEnvelopeResult } from "./contracts/sign-envelope.js";
export type { SignOneShotInput, SignOneShotResult } from "./contracts/sign-one-shot.js";

/** A process as the visibility shows it, without asking it. */
export interface ListedProcess {
  process: ProcessName;
  id: string;
  workflowId: string;
  /** Temporal's word: RUNNING, COMPLETED, FAILED, TERMINATED … */
  state: string;
  startedAt: string;
  phase?: string;
  outcome?: string;
  attention?: string;
  account?: string;
  references?: string[];
  deadline?: string;
  /** Decisions that wait for a second operator. */
  proposals?: ProposedDecision[];
  /** With `stuck` alone. */
  stuck?: Stuck;
}

export interface ListFilter {
  process?: ProcessName;
  /** Only those that wait for a person. */
  attention?: boolean;
  /** Only those whose workflow tasks keep failing. */
  stuck?: boolean;
}

type Connected = Awaited<ReturnType<typeof connectClient>>;

/**
 * Each process has a method of its name: `sendPostal(id, input)` starts a certified postal communication, joins the one that is open
 * under this id, or finds the finished one. It throws `InvalidInputError` before anything exists, `InputMismatchError` where the id
 * stands for another input.
 */
export class Trustflow extends ProcessStarts {
  readonly #connected: Connected;
  readonly #ring: KeyRing;
  readonly #config: Config;
  readonly #sealer: SecretSealer | undefined;
  readonly #sign: SignDecision;
  #documents?: DocumentStore;

  private constructor(connected: Connected, ring: KeyRing, config: Config) {
    super();
    this.#connected = connected;
    this.#ring = ring;
    this.#config = config;
    const { secretsPublic } = config.keys;
    this.#sealer = secretsPublic && new SecretSealer(ringOf(config, "secretsPublic"));
    this.#sign = signerOf(config, connected.client.options.namespace);
  }

  /** Reads trustflow.toml, temporal.toml and the environment; throws what is missing, naming the key. */
  static async connect(overrides: ConnectionOverrides = {}): Promise<Trustflow> {
    const config = loadConfig();
    const ring = readingRing(config);
    const { writeRing } = mayOnlyRead(config) ? {} : payloadKeys(config);
    const refusePlaintext = clientRefusesPlaintext(config);
    const connected = await connectClient(ring, { ...overrides, writeRing, refusePlaintext });
    return new Trustflow(connected, ring, config);
  }

  /** Puts and gets documents; throws where `documents.directory` or `keys.documents` is not configured. */
  get documents(): Pick<DocumentStore, "put" | "get"> {
    return this.#store;
  }

  get #store(): DocumentStore {
    if (!this.#documents) {
      const directory = required(this.#config.documents.directory, "documents.directory");
      const ring = ringOf(this.#config, "documents");
      this.#documents = new DocumentStore(new DirectoryDriver(directory), ring);
    }
    return this.#documents;
  }

  /** The Temporal client underneath, with the codec and the namespace set. */
  get temporal(): Client {
    return this.#connected.client;
  }

  close(): Promise<void> {
    return this.#connected.close();
  }

  /** A process that was started before; `id` is `<process>/<business id>`. */
  handle<P extends ProcessName>(id: `${P}/${string}`): HandleOf<P> {
    const parsed = parseWorkflowId(id);
    if (!parsed) throw new UnknownProcessError(id, wrongIn(id));
    const writing: Writing = {
      check: () => this.#refuseToWrite(),
      sign: this.#sign,
      ...(this.#sealer && {
        seal: (contract, value) => this.#sealed(contract, value, id),
      }),
    };
    const Handle = handles[parsed.process];
    return new Handle(this.temporal, parsed.process, parsed.id, writing) as HandleOf<P>;
  }

  /** The same for a bare business id, where only one process has it. */
  async find(id: string): Promise<AnyHandle> {
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
    if (found.length > 1) {
      throw new InvalidInputError([
        { path: "id", problem: "names several processes: put <process>/ before it" },
      ]);
    }
    if (!found[0]) throw new UnknownProcessError(id);
    return found[0];
  }

  async *list(filter: ListFilter = {}): AsyncIterable<ListedProcess> {
    const { process: processName, attention, stuck } = filter;
    const names = processName ? [processName] : processes;
    const { connection, options } = this.temporal;
    const where = { connection, namespace: options.namespace };
    const terms = [
      stuck ? await candidatesQuery(where, names) : ofTypes(names),
      ...(attention ? [`${searchAttributes.attention.name} IS NOT NULL`, isRunning] : []),
    ];
    const found = withoutMemos(this.temporal).list({ query: terms.join(" AND ") });
    if (!stuck) {
      for await (const info of found) yield* await this.#listed(info);
      return;
    }
    for await (const { execution, stuck: problem } of filterStuck(where, found))
      for (const one of await this.#listed(execution)) yield { ...one, stuck: problem };
  }

  /** None where it is no process of ours. */
  async #listed(info: WorkflowExecutionInfo): Promise<ListedProcess[]> {
    const parsed = parseWorkflowId(info.workflowId);
    if (!parsed) return [];
    const attribute = info.typedSearchAttributes;
    const found = {
      phase: attribute.get(searchAttributes.phase),
      outcome: attribute.get(searchAttributes.outcome),
      attention: attribute.get(searchAttributes.attention),
      account: attribute.get(searchAttributes.account),
      references: attribute.get(searchAttributes.references),
      deadline: attribute.get(searchAttributes.deadline)?.toISOString(),
      proposals: await proposalsOf(this.temporal, info),
    };
    return [
      {
        ...parsed,
        workflowId: info.workflowId,
        state: info.status.name,
        startedAt: info.startTime.toISOString(),
        ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)),
      },
    ];
  }

  /** Starts any process by its name, as the method of that name does. */
  override async start<P extends ProcessName>(
    processName: P,
    id: string,
    input: object,
  ): Promise<HandleOf<P>> {
    this.#refuseToWrite();
    const { input: schema, title } = contractOf(processName);
    const problems = [
      ...checkInput(BusinessId, id, ["id"]).fields,
      ...checkInput(schema, input).fields,
    ];
    if (problems.length > 0) throw new InvalidInputError(problems);
    refuseOversize(input);
    const workflowId = workflowIdOf(processName, id);
    await this.#refuseErased(workflowId);
    const sent = await this.#withReferences(input, workflowId);
    const digested = comparedInput(schema, sent, contentOf);
    try {
      await this.temporal.workflow.start(processName, {
        workflowId,
        taskQueue: workflowTaskQueue,
        args: [this.#sealed(schema, sent, workflowId)],
        // As USE_EXISTING, but told of it, so that only a second start asks the server what the first one brought.
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        staticSummary: `${title} ${id}`,
        // A client of the release before compares a second start with this.
        memo: { [inputDigestMemo]: inputDigest(this.#ring, digested) },
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await this.#refuseAnother(processName, workflowId, digested);
    }
    return this.handle(workflowId);
  }

  /** With each secret sealed for the workers, where `keys.secretsPublic` is given (decision 23). */
  #sealed(contract: Contract, value: unknown, workflowId: string): unknown {
    const sealer = this.#sealer;
    if (!sealer) return value;
    const processKey = { namespace: this.#connected.namespace, workflowId };
    return withSecrets(contract, value, (secret) => sealer.seal(secret, processKey));
  }

  #refuseToWrite(): void {
    if (mayOnlyRead(this.#config)) throw writingRefused();
  }

  /** Whichever client made the first start: its input stands in the history (docs/decisions/0014). */
  async #refuseAnother(
    processName: ProcessName,
    workflowId: string,
    digested: object,
  ): Promise<void> {
    const first = await this.#firstInput(workflowId);
    const digestOf = (input: object) => inputDigest(this.#ring, input);
    const isSame =
      typeof first === "object" &&
      first !== null &&
      digestOf(comparedInput(contractOf(processName).input, first, contentOf)) ===
        digestOf(digested);
    if (!isSame) throw new InputMismatchError(workflowId);
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

  /** A worker refuses it too, but then there is a history. */
  async #refuseErased(workflowId: string): Promise<void> {
    if (!this.#hasStore) return;
    const { namespace } = this.#connected;
    if (await this.#store.dataKeys.isErased({ namespace, workflowId })) throw erasedId();
  }

  /** Inline documents go to the store first, so that no bytes stand in a history; stored ones are looked at, where they can be. */
  async #withReferences(input: object, workflowId: string): Promise<object> {
    const { namespace } = this.#connected;
    const sent = await withDocuments(input, async (document, path) => {
      if ("base64" in document) {
        const bytes = Buffer.from(document.base64, "base64");
        const put = (options = {}) => this.#store.put(bytes, document.mediaType, options);
        return put({ process: { namespace, workflowId } }).catch((error: unknown) => {
          // The ring lacks the key of a process that is started again: that waits for it, the start does not.
          if (!isLocked(error)) throw error;
          return put();
        });
      }
      if (this.#hasStore) await refuseUnreadable(this.documents, document, path);
      return document;
    });
    return sent as object;
  }

  /** Who only starts processes may share a configuration without the key of its documents. */
  get #hasStore(): boolean {
    const { documents, keys } = this.#config;
    return documents.directory !== undefined && isReadable(keys.documents);
  }
}

/** What once was erased is never started again: nobody could tell what was sent under it. */
function erasedId(): InvalidInputError {
  return new InvalidInputError([{ path: "id", problem: erasedProblem }]);
}

/** With the key of `keys.operator`, whose id is the operator's name. */
function signerOf(config: Config, namespace: string): SignDecision {
  if (config.keys.operator === undefined) return () => undefined;
  const { id: operator, bytes } = ringOf(config, "operator").active;
  return (decision) => {
    const at = new Date().toISOString();
    const value = signDecision(bytes, { ...decision, namespace, operator, at });
    return { operator, at, value };
  };
}

/** What is wrong with an id that no process can have. */
function wrongIn(id: string): string {
  const [name = ""] = id.split("/", 1);
  return processes.some((name) => name === name)
    ? "no business id looks like that"
    : `there is no process "${name}"; ${suggestionFor(name, processes)}`;
}
