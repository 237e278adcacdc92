// What must hold in every simulation. `at each step` rules are checked when something happens; the others when faults have stopped and all
// has come to rest.
import type { DataConverter } from "@temporalio/common";
import type { ProcessName } from "../../src/contracts/registry.js";
import { splitWorkflowId } from "../../src/contracts/shared/names.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { eventIdOf } from "../../src/providers/errors/outside.js";
import { dataConverter } from "../../src/temporal/codec/data-converter.js";
import { Ledger } from "../../packages/sandbox/src/engine/ledger.js";
import { processesUnderTest } from "../processes/index.js";
import type { Database } from "./doors/database.js";
import type { Files } from "./doors/files.js";
import type { Living } from "./life.js";
import { underTestOf } from "./life.js";
import type { Violation } from "./report.js";
import type { System } from "./system.js";
import { problemsOfDocuments } from "./stored.js";
import { api } from "./temporal/history.js";
import type { HistoryEvent } from "./temporal/history.js";
import { replayProblems } from "./temporal/judge.js";
import type { Run } from "./temporal/run.js";
import { workflowSource } from "../../src/worker.js";

const { HistoryEvent: Event } = api.api.history.v1;

export const rules = {
  oneEffect: "an intent has one effect, unless a person confirmed a second",
  journalFirst: "the journal has a row before an effect",
  callbackKept: "a callback that was acknowledged is in the inbox",
  callbackSettled: "a callback is brought to its process, or kept for a person",
  answered: "an update that a process has accepted is answered before the process ends",
  noSecret: "nothing personal and no secret is readable in a history, an attribute or a log",
  ends: "a process ends",
  recovers: "what failed goes on once nothing is wrong any more",
  truth: "a process ends as its provider says",
  statusTrue: "the status says what the history says",
  deterministic: "a history replays",
  documents: "a document has an owner, and an owner has its document",
  oldKeys: "what was sealed or signed with an old key is still taken",
  erased: "of an erased process nothing is left, and nothing comes back",
  openKept: "the clean-up deletes nothing of an open process",
  unhandled: "no program fails in a way that nobody handles",
} as const;
export type Rule = keyof typeof rules;

/** What the inputs of the processes say of persons (test/processes), and what their holders enter. */
const personal = [
  "Calle Mayor 1",
  "holder-password",
  "holder-code",
  "AX1234567",
  "Comune di Roma",
  "+390612345678",
];

type Effect = Parameters<Ledger["record"]>[0];

interface Callback {
  Identifier?: unknown;
  EvidenceId?: string;
  AdditionalData?: { AffidavitId?: string };
}

/** How else a process may end than its provider plans: its persons were too late. */
const otherOutcomes: Partial<Record<ProcessName, string[]>> = {
  issueCertificate: ["expired"],
  // For the code, and for the decision about the identity video.
  signOneShot: ["expired", "openAtDeadline"],
  verifyIdentity: ["openAtDeadline"],
};

/** How the journal names what the ledger counts. */
const journalNames = new Map<string, string[]>();
for (const { calls } of processesUnderTest)
  for (const { sandbox, operation } of calls) {
    const name = `${sandbox.slice(0, sandbox.indexOf("."))}.${operation}`;
    journalNames.set(sandbox, [...(journalNames.get(sandbox) ?? []), name]);
  }

/** So long after its end, at least, a process would have taken what its provider published. */
const DAY_MS = 86_400_000;
/** Above all pauses between two tries: after a lost poll, the next one of a slow life comes a week later. */
const RECOVERY_MS = 8 * DAY_MS;

export class Checks {
  readonly violations: Violation[] = [];
  readonly counts: Record<string, number> = {};
  readonly #lives = new Map<string, Living>();
  readonly #effects: { intent: string; operation: string; at: number }[] = [];
  readonly #acknowledged: string[] = [];
  readonly #published: { id: string; of: string | undefined; at: number }[] = [];
  #delivered: { of: string; identifier: string }[] = [];
  /** How far the clock of the database may be off. */
  mostSkewMs = 0;
  readonly #failingSince = new WeakMap<object, number>();
  #secrets: Buffer[] = [];
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  violate(rule: Rule, detail: string): void {
    this.violations.push({ rule: rules[rule], detail, at: new Date().toISOString() });
  }

  count(rule: Rule): void {
    this.counts[rule] = (this.counts[rule] ?? 0) + 1;
  }

  /** From now on each effect is checked as the ledger gets it. */
  watch({ sandbox, env }: System): void {
    const { record } = Ledger.prototype;
    const noted = (effect: Effect) => this.#onEffect(sandbox, effect);
    Ledger.prototype.record = function (this: Ledger, effect: Effect): void {
      record.call(this, effect);
      noted(effect);
    };
    const isSecret = ([name]: [string, string]) =>
      /KEYS__(?!.*PUBLIC)|PASSWORD|TOKEN$|API_KEY$/.test(name);
    this.#secrets = [
      ...personal,
      ...Object.entries(env)
        .filter(isSecret)
        .map(([, value]) => value),
    ]
      .filter((text) => text.length > 5)
      .map((text) => Buffer.from(text));
  }

  addSecrets(texts: string[]): void {
    this.#secrets.push(...texts.map((text) => Buffer.from(text)));
  }

  know(living: Living): void {
    this.#lives.set(living.life.life, living);
  }

  #onEffect(sandbox: System["sandbox"], { intent, operation, itemId }: Effect): void {
    if (intent === null) return;
    this.#say(`the provider has done ${operation} for ${intent} (${itemId})`);
    this.#effects.push({ intent, operation, at: Date.now() });
    this.count("oneEffect");
    const living = this.#lives.get(intent);
    for (const { operation: name, count, part } of sandbox.ledger(intent).duplicates) {
      const { underTest } = living ? underTestOf(living.life) : { underTest: undefined };
      const isRepeatable = underTest?.repeats?.includes(name) ?? false;
      const confirmed = living?.confirmed.filter((one) => one === name).length ?? 0;
      if (!isRepeatable && count > 1 + confirmed)
        this.violate(
          "oneEffect",
          `${count} × ${name} for ${intent}${part ? ` (${part})` : ""}, of which a person confirmed ${confirmed}`,
        );
    }
  }

  /** A callback was answered with 2xx; `isGenuine`: it is the provider's. */
  onAcknowledged(body: string, isGenuine: boolean): void {
    const { Identifier, EvidenceId, AdditionalData } = (JSON.parse(body) ?? {}) as Callback;
    const { AffidavitId: id } = isGenuine ? (AdditionalData ?? {}) : {};
    if (id !== undefined) this.#published.push({ id, of: EvidenceId, at: Date.now() });
    // The receiver stores others under a digest.
    if (typeof Identifier === "string" && /^[\x20-\x7e]{1,200}$/.test(Identifier))
      this.#acknowledged.push(Identifier);
  }

  onEvent(run: Run, event: HistoryEvent): void {
    this.count("noSecret");
    this.noSecretIn(`the history of ${run.id}`, Buffer.from(Event.encode(event).finish()));
  }

  noSecretIn(where: string, bytes: Buffer): void {
    for (const secret of this.#secrets)
      if (bytes.includes(secret))
        this.violate("noSecret", `${where} has ${secret.toString().slice(0, 6)}…`);
  }

  /** From time to time. `since`: from then on nothing is wrong. */
  lookAtTries({ temporal }: System, since: number): void {
    for (const { id, isOpen, activities } of temporal.runs.values()) {
      for (const activity of isOpen ? activities.values() : []) {
        const { applicationFailureInfo: ofUs, timeoutFailureInfo: late } =
          activity.lastFailure ?? {};
        // An attempt that runs asks for days.
        if (activity.isRunning || (!late && ofUs?.type !== "unavailable")) {
          this.#failingSince.delete(activity);
          continue;
        }
        this.count("recovers");
        const seenAt = this.#failingSince.get(activity) ?? Date.now();
        this.#failingSince.set(activity, seenAt);
        const name = activity.attributes.activityType?.name;
        if (Date.now() > Math.max(since, seenAt) + RECOVERY_MS)
          this.violate("recovers", `${id}, ${name}: ${activity.lastFailure?.message}`);
      }
    }
  }

  get hasNews(): boolean {
    return this.#effects.length + this.#acknowledged.length > 0;
  }

  /** Effects and acknowledgements since the last look, against the tables. */
  async look(database: Database): Promise<void> {
    for (const { intent, operation, at } of this.#effects.splice(0)) {
      this.count("journalFirst");
      const [first] = await database.rows<{ at: Date | null }>(
        `select min(created_at) as at from trustflow.effects
          where split_part(split_part(workflow_id, '/', 2), '.', 1) = $1
            and ($2::text[] is null or provider || '.' || operation = any($2))`,
        // What the provider does by itself afterwards, such as the notices of a batch, has no row of its own.
        [intent, journalNames.get(operation) ?? null],
      );
      const written = first?.at?.toISOString() ?? "never";
      if (!first?.at || first.at.getTime() > at + this.mostSkewMs)
        this.violate(
          "journalFirst",
          `${operation} for ${intent} at ${new Date(at).toISOString()}; the first row is of ${written}`,
        );
    }
    for (const identifier of this.#acknowledged.splice(0)) {
      this.count("callbackKept");
      const rows = await database.rows("select from trustflow.callbacks where identifier = $1", [
        identifier,
      ]);
      if (rows.length === 0)
        this.violate("callbackKept", `callback ${identifier} was acknowledged, and is not there`);
    }
  }

  /** When all has come to rest. */
  async end({ temporal, sandbox }: System, database: Database, files: Files): Promise<void> {
    await this.look(database);
    for (const { kind, operation, intent, detail } of sandbox.ledger().violations)
      this.violate(
        "oneEffect",
        `the provider noted ${kind} at ${operation} for ${intent}: ${detail}`,
      );
    this.count("callbackSettled");
    const waiting = await database.rows<{ id: string; workflow_id: string }>(
      "select id, workflow_id from trustflow.callbacks where state = 'waiting'",
    );
    for (const { id, workflow_id: of } of waiting)
      this.violate("callbackSettled", `callback ${id} of ${of} still waits`);
    // What is wrong with a callback itself is found when it is read; its bytes, and the keys, are in order.
    const givenUp = await database.rows<{ id: string; of: string; detail: string }>(
      "select id, workflow_id as of, detail from trustflow.callbacks where state = 'parked' and reason in ('undeliverable', 'undecryptable')",
    );
    for (const { id, of, detail } of givenUp)
      this.violate("callbackSettled", `callback ${id} of ${of} was given up: ${detail}`);
    this.#delivered = await database.rows(
      "select workflow_id as of, identifier from trustflow.callbacks where state = 'delivered'",
    );
    this.count("documents");
    const kept = { documentOrphanDays: Infinity, quarantineDays: Infinity };
    for (const problem of await problemsOfDocuments(database, files, {
      before: Date.now(),
      retention: kept,
    }))
      this.violate("documents", problem);
    for (const run of temporal.everyRun) {
      this.#atEnd(run, sandbox);
      this.#answeredIn(run);
    }
  }

  #answeredIn(run: Run): void {
    const accepted = run.events.flatMap((event) => {
      const { protocolInstanceId: id } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {};
      return id ? [id] : [];
    });
    const completed = new Set(
      run.events.map(
        (event) => event.workflowExecutionUpdateCompletedEventAttributes?.meta?.updateId,
      ),
    );
    for (const id of accepted) {
      this.count("answered");
      if (!run.isOpen && !completed.has(id))
        this.violate("answered", `${run.id} has ended without an answer to its update ${id}`);
    }
  }

  /** What is marked as delivered is in the history of its process. */
  async #deliveredIn(runs: Run[], { payloadCodecs = [] }: DataConverter): Promise<void> {
    const told = new Map<string, Set<string>>();
    for (const { id, events } of runs) {
      const ids = told.get(id) ?? told.set(id, new Set()).get(id)!;
      for (const { workflowExecutionSignaledEventAttributes: signal } of events) {
        if (signal?.signalName !== "providerEvents") continue;
        const [payload] = await payloadCodecs[0]!.decode(signal.input?.payloads ?? []);
        const given = JSON.parse(Buffer.from(payload?.data ?? "null").toString()) as unknown;
        const events = (Array.isArray(given) ? given : []) as ({ id?: string } | null)[];
        for (const event of events) if (event?.id !== undefined) ids.add(event.id);
      }
    }
    for (const { of, identifier } of this.#delivered) {
      const ids = told.get(of);
      if (!ids || identifier.startsWith("sha256:")) continue;
      this.count("callbackSettled");
      if (!ids.has(eventIdOf(identifier)))
        this.violate("callbackSettled", `callback ${identifier} of ${of} never reached it`);
    }
  }

  /** The SDK's core is at work in real time, so the world is over by then. */
  async replay({ temporal, env }: System): Promise<void> {
    const closed = temporal.everyRun.filter(({ isOpen }) => !isOpen);
    for (const _ of closed) this.count("deterministic");
    const converter = dataConverter(KeyRing.parse(env["TRUSTFLOW_KEYS__CODEC"] ?? ""));
    await this.#deliveredIn(temporal.everyRun, converter);
    for (const problem of await replayProblems(closed, {
      ...workflowSource(),
      dataConverter: converter,
    }))
      this.violate("deterministic", problem);
  }

  /** No fault is a reason to fail, and who ends well has had all of its effects. */
  #isTrue(
    { life, workflowId, outcome = "", result, waitedFor, isLate, isUnasked }: Living,
    { closedAt = Infinity }: Run,
    sandbox: System["sandbox"],
  ): void {
    this.count("truth");
    const { underTest, call } = underTestOf(life);
    // A person abandons what cannot go on without a secret that only the lost answer had, and lets a refused assertion be.
    const isByPerson = outcome === "AbandonedError" || waitedFor === "a new eID assertion";
    if (outcome.endsWith("Error") && !isByPerson)
      this.violate("truth", `${workflowId} ended with ${outcome}`);
    const made = sandbox.ledger(life.life).byIntent[life.life] ?? {};
    const isPlanned = outcome === call.outcome;
    // A slow person has asked once it was over, another one never or in vain, as its provider's ledger says too.
    const mayBeUnasked = (life.isSlow || isUnasked) && call.ask && !made[call.sandbox];
    const isTooLate = mayBeUnasked && outcome === underTest.outcome;
    const isOther = !isPlanned && !isTooLate && !outcome.endsWith("Error");
    if (isOther && !otherOutcomes[life.process]?.includes(outcome))
      this.violate(
        "truth",
        `${workflowId} ended as ${outcome}, and its provider says ${call.outcome}`,
      );
    const wanted = isPlanned ? (call.effects ?? underTest.effects) : {};
    for (const [operation, count] of Object.entries(wanted))
      if (count > 0 && !made[operation])
        this.violate("truth", `${workflowId} ended as ${outcome}, without ${operation}`);
    const missing = this.#published.find(
      ({ id, of, at }) =>
        of === result?.references?.uniqueId &&
        at < closedAt + DAY_MS &&
        !result?.documents?.some(({ uniqueId }) => uniqueId === id),
    );
    if (isPlanned && result && missing && !isLate)
      this.violate("truth", `${workflowId} ended without the affidavit ${missing.id}`);
    const told = (result?.timeline ?? [])
      .filter(({ source }) => source === "callback")
      .map((entry) => JSON.stringify(entry));
    const twice = told.find((entry, index) => told.indexOf(entry) < index);
    if (twice) this.violate("statusTrue", `${workflowId} shows twice: ${twice}`);
  }

  #atEnd(run: Run, sandbox: System["sandbox"]): void {
    this.count("ends");
    const living = this.#lives.get(splitWorkflowId(run.id)?.id ?? "");
    if (run.isOpen)
      this.violate("ends", `${run.id} is open: ${JSON.stringify(living?.status ?? {})}`);
    if (!living || living.workflowId !== run.id || living.outcome === undefined) return;
    this.#isTrue(living, run, sandbox);
    this.count("oldKeys");
    if (/Key|Decrypt|Unproven/.test(living.outcome))
      this.violate("oldKeys", `${run.id} ended, and its result cannot be read: ${living.outcome}`);
    this.count("statusTrue");
    const shown = outcomeIn(run);
    if (shown !== undefined && living.outcome !== shown && !living.outcome.endsWith("Error"))
      this.violate(
        "statusTrue",
        `${run.id} ended as ${living.outcome}, and its attributes say ${shown}`,
      );
  }
}

function outcomeIn(run: Run): string | undefined {
  const payload = run.attributes["TrustflowOutcome"];
  return payload?.data ? (JSON.parse(Buffer.from(payload.data).toString()) as string) : undefined;
}
