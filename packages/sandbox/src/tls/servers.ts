// The two listeners: plain HTTP, and mutual TLS for what needs a client certificate.
import { fastify, type FastifyInstance } from "fastify";
import type { SandboxOptions } from "../options.js";
import type { Pki } from "./pki.js";

const ajv = { customOptions: { removeAdditional: false, coerceTypes: false } } as const;

export function httpServer(bodyLimit: number, health: SandboxOptions["health"]): FastifyInstance {
  const server = fastify({ logger: false, bodyLimit, forceCloseConnections: true, ajv });
  server.addHook("onRequest", (request, reply, done) => {
    if (health?.(request.raw, reply.raw)) reply.hijack();
    else done();
  });
  return server;
}

/** Without a certificate of this authority that is valid now, there is no connection. */
export function mutualTlsServer(bodyLimit: number, { server }: Pki): FastifyInstance {
  const https = { ...server, requestCert: true, rejectUnauthorized: true };
  return fastify({ logger: false, bodyLimit, forceCloseConnections: true, https });
}
