// Says whether Temporal still serves a role on the connection that it has, and if not, why.
import { X509Certificate } from "node:crypto";
import type { ConnectionLike } from "@temporalio/client";
import type { ResolvedConnection } from "./connection.js";
import { grpcOf, status } from "./grpc-status.js";

const ANSWER_MS = 2_000;

/**
 * Resolves with a sentence for the operator if the client certificate has expired or the namespace is gone. An open connection does not
 * notice that its certificate expires. Rejects while Temporal does not answer.
 */
export async function temporalProblem(
  connection: ConnectionLike,
  { namespace, options: { tls } }: Pick<ResolvedConnection, "namespace" | "options">,
): Promise<string | undefined> {
  const certificate = typeof tls === "object" ? tls?.clientCertPair?.crt : undefined;
  const validTo = certificate && new X509Certificate(certificate).validTo;
  if (validTo !== undefined && Date.parse(validTo) < Date.now())
    return `The client certificate for Temporal expired on ${validTo}. Renew it, then restart this role.`;
  try {
    await connection.withDeadline(Date.now() + ANSWER_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return undefined;
  } catch (error) {
    if (grpcOf(error).code !== status.notFound) throw error;
    return `Temporal has no namespace "${namespace}". Either it was deleted, or TEMPORAL_NAMESPACE is wrong.`;
  }
}
