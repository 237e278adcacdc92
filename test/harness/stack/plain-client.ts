// Temporal clients without any of Trustflow's code, with the codec of docs/any-language.md.
import { Client } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { pageCodec } from "../pages/any-language.js";
import type { TestStack } from "./stack.js";

type Of = Pick<TestStack, "client" | "stack">;

/** With the keys, for one process. */
export function plainClient({ client, stack }: Of, workflowId: string): Client {
  const { TRUSTFLOW_KEYS__CODEC: ring = "", TRUSTFLOW_KEYS__CODEC_WRITE: write = "" } = stack.env;
  const payloadCodecs = [pageCodec(ring, { ring: write, workflowId })];
  return new Client({ connection: client.temporal.connection, dataConverter: { payloadCodecs } });
}

/** Reads with the key, so that the test sees what it is answered, and writes without. */
export function strangerTo({ client, stack }: Of): Client {
  const { decode } = pageCodec(stack.env["TRUSTFLOW_KEYS__CODEC"] ?? "");
  const payloadCodecs = [{ encode: async (payloads: Payload[]) => payloads, decode }];
  return new Client({ connection: client.temporal.connection, dataConverter: { payloadCodecs } });
}
