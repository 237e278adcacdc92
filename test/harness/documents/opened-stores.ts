// Everything that Trustflow keeps, opened with every key that there is: documents, rows, histories, visibility. What cannot be opened is
// given as it lies there.
import { createDecipheriv } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Payload } from "@temporalio/common";
import pg from "pg";
import { BodyOpener } from "../../../src/callbacks/inbox/body-keys.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { dataKeyOf } from "../../../src/crypto/sealed.js";
import { DirectoryDriver } from "../../../src/documents/directory-driver.js";
import { DocumentStore } from "../../../src/documents/store.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";
import { formsOf } from "../histories/canaries.js";
import { descriptions } from "../histories/haystack.js";
import type { Haystack } from "../histories/haystack.js";
import type { TestStack } from "../stack/stack.js";

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
    const entries = await readdir(this.#directory, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((found) => found.isFile())) {
      const bytes = await readFile(join(entry.parentPath, entry.name));
      yield ["documents", await this.open(bytes)];
    }
  }

  async *#rows(): AsyncIterable<Haystack> {
    const database = new pg.Client({ connectionString: this.#system.stack.env["DATABASE_URL"] });
    await database.connect();
    const bodies = new BodyOpener({ inbox: this.#ring("INBOX") });
    try {
      const { rows: tables } = await database.query<{ name: string }>(
        "select table_name as name from information_schema.tables where table_schema = 'trustflow'",
      );
      for (const { name } of tables) {
        const { rows } = await database.query<Record<string, unknown>>(
          `select * from trustflow."${name}"`,
        );
        for (const row of rows) {
          const { address, identifier, body: sealedBody } = row;
          if (name === "callbacks" && Buffer.isBuffer(sealedBody))
            yield [
              name,
              bodies.open({ address: String(address), identifier: String(identifier), sealedBody }),
            ];
          for (const value of Object.values(row))
            yield [
              name,
              Buffer.isBuffer(value)
                ? await this.open(value)
                : Buffer.from(JSON.stringify(value ?? null)),
            ];
        }
      }
    } finally {
      await database.end();
    }
  }

  async *#histories(): AsyncIterable<Haystack> {
    const codec = new EncryptionCodec(this.#ring("CODEC"));
    const { workflow } = this.#system.client.temporal;
    for await (const { workflowId, runId } of workflow.list()) {
      const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
      const payloads = await codec.decode(payloadsIn(events));
      const clear = payloads.map(({ data }) => Buffer.from(data ?? []));
      yield ["histories", Buffer.concat([...clear, Buffer.from(JSON.stringify(events))])];
    }
  }

  /** Without a look at the seal's context, so that nothing depends on knowing it. */
  async open(sealed: Buffer): Promise<Buffer> {
    const dataKeyId = dataKeyOf(sealed);
    const keys = dataKeyId === undefined ? this.#ringKeys(sealed) : await this.#dataKey(dataKeyId);
    const opened = keys.map((key) => decipher(key, sealed));
    return Buffer.concat([sealed, ...opened]);
  }

  #ringKeys(sealed: Buffer): Buffer[] {
    const [version, length = 0] = sealed;
    if (version !== 1) return [];
    const id = sealed.subarray(2, 2 + length).toString();
    const rings = ["CODEC", "CALLBACK", "JOURNAL", "DOCUMENTS"].map((name) => this.#ring(name));
    return rings.flatMap((ring) => ring.get(id)?.bytes ?? []);
  }

  async #dataKey(id: string): Promise<Buffer[]> {
    const { dataKeys } = new DocumentStore(
      new DirectoryDriver(this.#directory),
      this.#ring("DOCUMENTS"),
    );
    return dataKeys.get(id).then(
      ({ bytes }) => [bytes],
      () => [],
    );
  }

  #ring(name: string): KeyRing {
    return KeyRing.parse(this.#system.stack.env[`TRUSTFLOW_KEYS__${name}`] ?? "");
  }
}

function decipher(key: Buffer, sealed: Buffer): Buffer {
  const at = 2 + (sealed[1] ?? 0);
  const opener = createDecipheriv("aes-256-gcm", key, sealed.subarray(at, at + 12));
  return opener.update(sealed.subarray(at + 12, -16));
}

function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if ("metadata" in value && "data" in value && value.data instanceof Uint8Array)
    return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}
