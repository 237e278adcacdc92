// Stores the data keys of processes: small objects beside the documents, one per process, sealed with the documents ring. Every reader of
// documents can read them. The first writer wins; an erased key leaves a mark, so that no new key replaces it.
import { dataKeyId, ProcessSealer } from "../crypto/data-key.js";
import type { ProcessKey, Sealers } from "../crypto/data-key.js";
import { ErasedKeyError, MissingDataKeyError } from "../crypto/errors.js";
import { keyOf } from "../crypto/key-ring.js";
import type { Key, KeyRing } from "../crypto/key-ring.js";
import { open, seal } from "../crypto/sealed.js";
import type { DocumentDriver } from "./driver.js";

const ERASED = Buffer.from("erased");
/** So long, at most, a role remembers a key after it was erased. */
const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 10_000;

export class DataKeys {
  readonly #driver: DocumentDriver;
  readonly #ring: KeyRing;
  readonly #remembered = new Map<string, { key: Promise<Key>; until: number }>();

  constructor(driver: DocumentDriver, ring: KeyRing) {
    this.#driver = driver;
    this.#ring = ring;
  }

  /** The process's key, durably stored; throws `ErasedKeyError`. */
  of(processKey: ProcessKey): Promise<Key> {
    const id = dataKeyId(processKey);
    return this.#remember(id, async () => (await this.#read(id)) ?? this.#make(id));
  }

  /** The key that something is sealed with; throws `ErasedKeyError` and `MissingDataKeyError`. */
  get(id: string): Promise<Key> {
    return this.#remember(id, async () => {
      const key = await this.#read(id);
      if (!key) throw new MissingDataKeyError(id);
      return key;
    });
  }

  sealers(): Sealers {
    return { of: async (processKey) => new ProcessSealer(await this.of(processKey)) };
  }

  /** Whether there is a key, or the mark of an erased one. */
  async haveAny(): Promise<boolean> {
    for await (const _ of this.#driver.list()) return true;
    return false;
  }

  /** Whether the process was erased, as far as its key tells. */
  async isErased(processKey: ProcessKey): Promise<boolean> {
    return (await this.#driver.read(dataKeyId(processKey)))?.equals(ERASED) ?? false;
  }

  /** For ever; again and again is the same. */
  async erase(processKey: ProcessKey): Promise<void> {
    const id = dataKeyId(processKey);
    // Another process may create a new key between the two steps.
    while (!(await this.isErased(processKey))) {
      await this.#driver.remove(id);
      await this.#driver.write(id, [ERASED]);
    }
    this.#remembered.delete(id);
  }

  async #make(id: string): Promise<Key> {
    const key = keyOf(id);
    if (await this.#driver.write(id, [seal(this.#ring, key.bytes, contextOf(id))])) return key;
    const first = await this.#read(id);
    if (!first) throw new MissingDataKeyError(id);
    return first;
  }

  async #read(id: string): Promise<Key | undefined> {
    const sealed = await this.#driver.read(id);
    if (sealed?.equals(ERASED)) throw new ErasedKeyError();
    return sealed && keyOf(id, open(this.#ring, sealed, contextOf(id)));
  }

  #remember(id: string, load: () => Promise<Key>): Promise<Key> {
    const known = this.#remembered.get(id);
    if (known && known.until > Date.now()) return known.key;
    const key = load();
    this.#remembered.delete(id);
    this.#remembered.set(id, { key, until: Date.now() + REMEMBERED_MS });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined)
      this.#remembered.delete(oldest);
    key.catch(() => {
      if (this.#remembered.get(id)?.key === key) this.#remembered.delete(id);
    });
    return key;
  }
}

/** The id stands for namespace and workflow id, so a key cannot be put in another process's place. */
function contextOf(id: string): string {
  return `data-key:${id}`;
}
