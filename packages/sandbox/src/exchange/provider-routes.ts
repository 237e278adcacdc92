// The routes of one simulated provider, in a context of its own: raw bodies, and errors in the provider's own shape.
// What needs a client certificate is served where connections have one, and nowhere else.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { exchange } from "./exchange.js";
import type { SandboxProvider } from "./operation.js";
import type { SandboxParts } from "../engine/parts.js";

export function registerProvider(
  server: FastifyInstance,
  parts: SandboxParts,
  provider: SandboxProvider,
  isMutualTls: boolean,
): void {
  const operations = provider.operations.filter(
    ({ needsClientCertificate = false }) => needsClientCertificate === isMutualTls,
  );
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("text/csv", readList);
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) =>
      done(null, body),
    );
    for (const operation of operations) {
      const refuse = operation.refuse ?? provider.refuse;
      const [method, path] = operation.route.split(" ") as [string, string];
      for (const url of [path, ...(provider.alsoAt?.(path) ?? [])]) {
        scope.route({
          method,
          url,
          errorHandler(error: { statusCode?: number; message: string }, _request, reply) {
            const isClientError = error.statusCode !== undefined && error.statusCode < 500;
            if (!isClientError) process.emitWarning(`sandbox: ${error.message}`);
            const status = isClientError ? 400 : 500;
            const answer = refuse(status, "InvalidRequest", error.message);
            void reply.status(answer.status).headers(answer.headers).send(answer.body);
          },
          handler: (request, reply) => exchange(parts, provider, operation, request, reply),
        });
      }
    }
  });
}

async function readList(
  { headers, routeOptions }: FastifyRequest,
  payload: AsyncIterable<Buffer>,
): Promise<Buffer> {
  const limit = routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY;
  const length = Number(headers["content-length"] ?? Number.NaN);
  if (length > limit) throw tooLarge();
  const whole = Number.isNaN(length) ? undefined : Buffer.allocUnsafeSlow(length);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of payload) {
    if (whole) piece.copy(whole, bytes);
    else pieces.push(piece);
    bytes += piece.length;
    if (bytes > limit) throw tooLarge();
  }
  return whole ?? Buffer.concat(pieces);
}

function tooLarge(): Error {
  return Object.assign(new Error("Request body is too large"), { statusCode: 413 });
}
