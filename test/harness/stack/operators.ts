// Operators of a test: their keys, what the workers know of them, and clients that sign with them.
import { Trustflow } from "../../../src/client.js";
import type { PostalHandle } from "../../../src/client.js";
import { generateOperatorKey } from "../../../src/crypto/decision-signature.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { statusWhere } from "./stack.js";
import type { TestStack } from "./stack.js";

export class Operators {
  readonly #keys: Record<string, { privateKey: string; publicKey: string }>;
  readonly #clients: Trustflow[] = [];

  constructor(...names: string[]) {
    this.#keys = Object.fromEntries(names.map((name) => [name, generateOperatorKey()]));
  }

  /** Of the workers. */
  get env(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.#keys).map(([name, { publicKey }]) => [
        `TRUSTFLOW_OPERATORS__${name.toUpperCase()}__PUBLIC_KEYS`,
        publicKey,
      ]),
    );
  }

  privateKey(name: string): Buffer {
    return Buffer.from(this.#keys[name]?.privateKey ?? "", "base64");
  }

  /** Of a client, the command line too. */
  keyOf(name: string, signsAs = name): Record<string, string> {
    return { TRUSTFLOW_KEYS__OPERATOR: `${signsAs}:${this.#keys[name]?.privateKey}` };
  }

  /** A client with the operator's key, optionally under another name. */
  async client(name: string, signsAs = name): Promise<Trustflow> {
    Object.assign(process.env, this.keyOf(name, signsAs));
    try {
      const client = await Trustflow.connect();
      this.#clients.push(client);
      return client;
    } finally {
      delete process.env["TRUSTFLOW_KEYS__OPERATOR"];
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}

/** A letter whose account is refused until a person gives it up, with the id of its attention. */
export async function letterToDecide(
  { client }: Pick<TestStack, "client">,
  id: string,
): Promise<{ handle: PostalHandle; attention: string }> {
  const handle = await client.sendPostal(id, letterInput(id, "submit=reject-401*999"));
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  return { handle, attention: attention?.id ?? "" };
}
