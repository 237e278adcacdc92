// The search attributes of ours that a namespace must know before a process can run in it.
import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectionLike } from "@temporalio/client";
import proto from "@temporalio/proto";
import { searchAttributes } from "../../contracts/shared/names.js";
import { ConfigurationError } from "../../errors/connection/configuration-error.js";
import { grpcOf, status } from "../grpc-status.js";

/** A `Connection` or a `NativeConnection`. */
type Services = Pick<ConnectionLike, "operatorService" | "workflowService">;
type IndexedType = proto.temporal.api.enums.v1.IndexedValueType;

const { IndexedValueType } = proto.temporal.api.enums.v1;
const PROPAGATION_MS = 30_000;

const wanted = new Map<string, IndexedType>(
  Object.values(searchAttributes).map(({ name, type }) => [
    name,
    IndexedValueType[`INDEXED_VALUE_TYPE_${type}`],
  ]),
);

/** Adds what is missing and returns once the namespace accepts all of them; any number of callers at once may do so. */
export async function registerSearchAttributes(
  connection: Services,
  namespace: string,
): Promise<void> {
  const known = await listed(connection, namespace);
  for (const name of absentFrom(known, namespace)) {
    await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes: { [name]: wanted.get(name) ?? 0 } })
      .catch(unless(status.alreadyExists, undefined));
  }
  await untilAccepted(connection, namespace);
}

/** Throws when a name is taken by another type: servers would accept that in silence, and never find anything. */
export async function missingSearchAttributes(
  connection: Services,
  namespace: string,
): Promise<string[]> {
  return absentFrom(await listed(connection, namespace), namespace);
}

type Listed = Record<string, IndexedType>;

async function listed(connection: Services, namespace: string): Promise<Listed> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return customAttributes;
}

function absentFrom(known: Listed, namespace: string): string[] {
  return [...wanted].flatMap(([name, type]) => {
    const found = known[name];
    if (found === undefined) return [name];
    if (found === type) return [];
    throw new ConfigurationError([
      `the search attribute ${name} of the namespace "${namespace}" is of type ${IndexedValueType[found]}` +
        ` but must be ${IndexedValueType[type]}`,
    ]);
  });
}

// A server that keeps attributes per namespace (SQL visibility) spreads them through caches; a query shows when it is done.
async function untilAccepted(connection: Services, namespace: string): Promise<void> {
  const query = [...wanted.keys()].map((name) => `${name} IS NULL`).join(" AND ");
  for (const deadline = Date.now() + PROPAGATION_MS; ; await sleep(500)) {
    const accepted = await connection.workflowService
      .countWorkflowExecutions({ namespace, query })
      .then(() => true)
      .catch((error: unknown) => {
        if (Date.now() > deadline) throw error;
        return unless(status.invalidArgument, false)(error);
      });
    if (accepted) return;
  }
}

function unless<T>(code: number, value: T): (error: unknown) => T {
  return (error) => {
    if (grpcOf(error).code === code) return value;
    throw error;
  };
}
