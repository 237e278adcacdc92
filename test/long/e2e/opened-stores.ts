// Everything that Trustflow keeps, opened with every key that there is: documents, rows, histories, visibility. What cannot be opened is
// given as it lies there.
import { createDecipheriv } from "node:crypto";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import { BodyOpener } from "../../../src/callbacks/inbox/rows.js";
import type { KeyRing } from "../../../src/crypto/key-ring.js";
import { openStream, streamHeaderOf } from "../../../src/crypto/sealed-stream.js";
import { dataKeyOf, STREAM_OF_PROCESS, STREAM_OF_RING } from "../../../src/crypto/sealed.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";
import { formsOf } from "../../harness/histories/canaries.js";
import { payloadsIn } from "../../harness/histories/decoded.js";
import {
  bytesOf,
  descriptions,
  filesBelow,
  type Haystack,
} from "../../harness/histories/haystack.js";
import { everyRow } from "../../harness/stack/postgres.js";
import { historyOf, ringOf, type TestStack } from "../../harness/stack/stack.js";

export class OpenedStores {
  readonly #system: TestStack;
  readonly #directory: string;

  /** `directory`: another one than the stack's document directory, such as a backup of it. */
  constructor(system: TestStack, directory?: string) {
    this.#system = system;
    this.#directory = directory ?? system.stack.env["TRUSTFLOW_DOCUMENTS__DIRECTORY"] ?? "";
  }

  /** The names of the places that hold the text, in any usual encoding. */
  async placesOf(text: string): Promise<string[]> {
    const forms = formsOf(text).map(([, bytes]) => bytes);
    const places = new Set<string>();
    for await (const [name, bytes] of this.#everything())
      if (forms.some((form) => bytes.includes(form))) places.add(name);
    return [...places].toSorted();
  }

  async *#everything(): AsyncIterable<Haystack> {
    yield* this.files();
    yield* this.#rows();
    yield* this.#histories();
    for await (const [, bytes] of descriptions(this.#system)) yield ["visibility", bytes];
  }

  /** Each file of the document directory: the keys lie there too. */
  async *files(): AsyncIterable<Haystack> {
    for await (const [name, bytes] of filesBelow(this.#directory))
      yield ["documents", await this.open(bytes, `document:${basename(name)}`)];
  }

  async *#rows(): AsyncIterable<Haystack> {
    const bodies = new BodyOpener(this.#ring("INBOX"));
    for await (const [name, row] of everyRow(this.#system.pool)) {
      const { address, identifier, body: sealedBody } = row;
      const of = { address: String(address), identifier: String(identifier) };
      if (name === "callbacks" && Buffer.isBuffer(sealedBody))
        yield [name, bodies.open({ ...of, sealedBody })];
      for (const value of Object.values(row))
        yield [name, Buffer.isBuffer(value) ? await this.open(value) : bytesOf(value)];
    }
  }

  async *#histories(): AsyncIterable<Haystack> {
    const codec = new EncryptionCodec(this.#ring("CODEC"));
    for await (const { workflowId, runId } of this.#system.client.temporal.workflow.list()) {
      const { events } = await historyOf(this.#system, workflowId, runId);
      const payloads = await codec.decode(payloadsIn(events));
      const clear = payloads.map(({ data }) => Buffer.from(data ?? []));
      yield ["histories", Buffer.concat([...clear, Buffer.from(JSON.stringify(events))])];
    }
  }

  /** A value that is sealed as a whole is opened without a check of its context; a stream needs its context. */
  async open(sealed: Buffer, context = ""): Promise<Buffer> {
    const dataKeyId = dataKeyOf(sealed);
    const keys = dataKeyId === undefined ? this.#ringKeys(sealed) : await this.#dataKey(dataKeyId);
    const opened = await Promise.all(keys.map((key) => decipher(key, sealed, context)));
    return Buffer.concat([sealed, ...opened]);
  }

  #ringKeys(sealed: Buffer): Buffer[] {
    const [version, length = 0] = sealed;
    if (version !== 1 && version !== 4) return [];
    const id = sealed.subarray(2, 2 + length).toString();
    const rings = ["CODEC", "CALLBACK", "JOURNAL", "DOCUMENTS"].map((name) => this.#ring(name));
    return rings.flatMap((ring) => ring.get(id)?.bytes ?? []);
  }

  async #dataKey(id: string): Promise<Buffer[]> {
    const driver = new DirectoryDriver(this.#directory);
    return new DocumentStore(driver, this.#ring("DOCUMENTS")).dataKeys.get(id).then(
      ({ bytes }) => [bytes],
      () => [],
    );
  }

  #ring(name: string): KeyRing {
    return ringOf(this.#system.stack, name);
  }
}

async function decipher(key: Buffer, sealed: Buffer, context: string): Promise<Buffer> {
  if (sealed[0] === STREAM_OF_RING || sealed[0] === STREAM_OF_PROCESS) {
    const header = streamHeaderOf(sealed.subarray(0, 512));
    const file = {
      size: sealed.length,
      read: async (at: number, length: number) => sealed.subarray(at, at + length),
    };
    return buffer(openStream({ id: header.keyId, bytes: key }, header, file, context));
  }
  const at = 2 + (sealed[1] ?? 0);
  const opener = createDecipheriv("aes-256-gcm", key, sealed.subarray(at, at + 12));
  return opener.update(sealed.subarray(at + 12, -16));
}
