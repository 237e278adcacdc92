// The SDK's connections and its native core, replaced by the simulated ones: clients and workers of the SDK are used as they are.
import { Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import { NativeConnection, Runtime, ShutdownError, Worker } from "@temporalio/worker";
import { AsyncLocalStorage } from "node:async_hooks";
import { lightenWorkflows } from "./vm.js";
import { after } from "../temporal/after.js";
import { SimulatedCore } from "../temporal/core.js";
import type { CoreOptions, WorkerFaults } from "../temporal/core.js";
import { CallError, grpc } from "../temporal/server.js";
import type { TemporalServer } from "../temporal/server.js";
import type { Run } from "../temporal/run.js";

const { WorkflowService } = proto.temporal.api.workflowservice.v1;
const { OperatorService } = proto.temporal.api.operatorservice.v1;

const RETRY_PAUSE_MS = 200;
const MAX_ATTEMPTS = 10;
/** Above that of an open question. */
const DEADLINE_MS = 60 * 60_000;

export interface TemporalDoor {
  /** The server, as long as it can be reached. */
  server(): TemporalServer | undefined;
  /** Runs something as the server's own work. */
  asServer<T>(work: () => T): T;
  /** How long a message is under way. */
  latencyMs(): number;
  /** Called in the program that makes a worker; `gone` is to be called when that program is killed. */
  onWorker?(gone: () => void): void;
  onNondeterminism(run: Run, problem: string): void;
  /** Whether the answer of a call is lost, after the server has done it. */
  losesAnswer?(method: string): boolean;
  workerFaults?: WorkerFaults;
  /** The bundle of the workflows as the running program has it. */
  bundleOf?(code: string): string;
}

type Context = { deadline?: number | Date; abortSignal?: AbortSignal };
type Callback = (error: Error | null, response?: Uint8Array | null) => void;
interface Method {
  name: string;
  resolvedRequestType: Codec | null;
  resolvedResponseType: Codec | null;
}
interface Codec {
  decode(bytes: Uint8Array): object;
  encode(value: object): { finish(): Uint8Array };
}

/** From now on the SDK of this process knows only the simulated Temporal. */
export function openTemporalDoor(door: TemporalDoor): void {
  installRuntimeOnce();
  lightenWorkflows();
  changeBundles(door);
  const connection = () => connectionOf(door, Connection.prototype);
  Object.assign(Connection, { connect: async () => connection(), lazy: connection });
  Object.assign(NativeConnection, {
    connect: async () => connectionOf(door, NativeConnection.prototype),
  });
  const { nativeWorkerCtor } = Worker as unknown as { nativeWorkerCtor: object };
  Object.assign(Worker, {
    nativeWorkerCtor: {
      createReplay: (...given: unknown[]) => (nativeWorkerCtor as any).createReplay(...given),
      create: async (
        _: Runtime,
        __: unknown,
        options: CoreOptions & { workflowBundle?: unknown; workflowsPath?: unknown },
      ) => {
        const server = door.server()!;
        const core = new SimulatedCore(server, options, {
          takesWorkflows: (options.workflowBundle ?? options.workflowsPath) !== undefined,
          shutdownError: () => new ShutdownError("the worker ends"),
          asServer: door.asServer,
          onNondeterminism: door.onNondeterminism,
          ...(door.workerFaults && { faults: door.workerFaults }),
        });
        door.onWorker?.(() => door.asServer(() => server.leave(core, false)));
        return core;
      },
    },
  });
}

/** A worker of another release has another bundle. */
function changeBundles({ bundleOf }: TemporalDoor): void {
  const worker = Worker as unknown as {
    getOrCreateBundle: (...given: unknown[]) => Promise<{ code: string } | undefined>;
  };
  const { getOrCreateBundle } = worker;
  worker.getOrCreateBundle = async (...given) => {
    const bundle = await getOrCreateBundle.apply(Worker, given);
    return bundle && bundleOf ? { ...bundle, code: bundleOf(bundle.code) } : bundle;
  };
}

/** Each role installs it for its own process; here they share one, whose logs are not carried over from the core. */
function installRuntimeOnce(): void {
  const install = Runtime.install.bind(Runtime);
  let runtime: Runtime | undefined;
  Object.assign(Runtime, {
    install: ({ logger }: Parameters<typeof install>[0]) =>
      (runtime ??= install({
        ...(logger && { logger }),
        telemetryOptions: { logging: { filter: "OFF" } },
      })),
  });
}

/** One for all connections: in Node 20 every promise costs more with each storage that was ever used. */
const callContextStorage = new AsyncLocalStorage<Context>();

function connectionOf(door: TemporalDoor, prototype: object): object {
  const send = (method: unknown, bytes: Uint8Array, callback: Callback): void => {
    const { deadline } = callContextStorage.getStore() ?? {};
    sendCall(
      door,
      method as Method,
      bytes,
      deadline === undefined ? undefined : Number(deadline),
    ).then(
      (response) => callback(null, response),
      (error: Error) => callback(error),
    );
  };
  const own = {
    ...{
      callContextStorage,
      plugins: [],
      referenceHolders: new Set(),
      nativeClient: {},
      options: {},
    },
    workflowService: WorkflowService.create(send, false, false),
    operatorService: OperatorService.create(send, false, false),
    ensureConnected: async () => undefined,
    close: async () => undefined,
  };
  return Object.create(prototype, Object.getOwnPropertyDescriptors(own));
}

async function sendCall(
  door: TemporalDoor,
  method: Method,
  bytes: Uint8Array,
  deadline = Date.now() + DEADLINE_MS,
): Promise<Uint8Array> {
  const request = method.resolvedRequestType!.decode(bytes);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await attemptCall(door, method, request, deadline);
    if ("response" in answer) return answer.response;
    const { error } = answer;
    const isOver = attempt >= MAX_ATTEMPTS || Date.now() + RETRY_PAUSE_MS * attempt >= deadline;
    if (error.code !== grpc.UNAVAILABLE || isOver) throw serviceError(error);
    await pause(RETRY_PAUSE_MS * attempt);
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => after(ms, resolve));

type Answer = { response: Uint8Array } | { error: CallError };

function attemptCall(
  door: TemporalDoor,
  method: Method,
  request: object,
  deadline: number,
): Promise<Answer> {
  return new Promise((resolve) => {
    const limit = after(Math.max(0, deadline - Date.now()), () =>
      resolve({ error: new CallError(grpc.DEADLINE_EXCEEDED, "Deadline exceeded") }),
    );
    const answer = (given: Answer) => {
      if (door.losesAnswer?.(method.name))
        return resolve({ error: new CallError(grpc.UNAVAILABLE, "the connection was cut") });
      limit.clear();
      resolve(given);
    };
    after(door.latencyMs(), () => {
      const server = door.server();
      if (!server)
        return answer({ error: new CallError(grpc.UNAVAILABLE, "connect ECONNREFUSED") });
      void door.asServer(() =>
        server.call(method.name, request).then(
          (response) =>
            after(door.latencyMs(), () =>
              answer({ response: method.resolvedResponseType!.encode(response).finish() }),
            ),
          (error: unknown) => {
            if (!(error instanceof CallError)) throw error;
            after(door.latencyMs(), () => answer({ error }));
          },
        ),
      );
    });
  });
}

/** As gRPC gives it. */
function serviceError({ code, details, more }: CallError): Error {
  const status = proto.google.rpc.Status;
  const any = more && { type_url: `type.googleapis.com/${more.type}`, value: more.bytes };
  const buffer =
    any && Buffer.from(status.encode({ code, message: details, details: [any] }).finish());
  const metadata = {
    get: (name: string) => (buffer && name === "grpc-status-details-bin" ? [buffer] : []),
  };
  return Object.assign(new Error(`${code} ${details}`), { code, details, metadata });
}
