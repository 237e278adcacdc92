// The snapshot of a sandbox: one JSON file, replaced atomically, changes that come together written together.
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";

const VERSION = 1;
const COALESCE_MS = 100;

export class StateFile {
  readonly #path: string;
  readonly #snapshot: () => unknown;
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(directory: string, snapshot: () => unknown) {
    this.#path = join(directory, "sandbox.json");
    this.#snapshot = snapshot;
  }

  async read(): Promise<unknown> {
    try {
      const text = await readFile(this.#path, "utf8");
      const { version, state } = JSON.parse(text) as { version: number; state: unknown };
      if (version === VERSION) return state;
      throw new Error(`version ${version} is not ${VERSION}`);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === "ENOENT") return undefined;
      const remedy = code === undefined ? "; remove the file" : "";
      throw new Error(`${this.#path}: ${message}${remedy}`, { cause: error });
    }
  }

  /** Writes soon. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.flush().catch((error: unknown) =>
        process.emitWarning(`sandbox state not kept: ${String(error)}`),
      );
    }, COALESCE_MS);
  }

  /** Resolves once everything that has happened before the call is on disk. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#next ??= this.#writeNext());
  }

  async #writeNext(): Promise<void> {
    await this.#writing.catch(() => undefined);
    this.#next = undefined;
    this.#writing = this.#write();
    return this.#writing;
  }

  async #write(): Promise<void> {
    const text = JSON.stringify({ version: VERSION, state: this.#snapshot() });
    const temporary = `${this.#path}.tmp`;
    await mkdir(join(this.#path, ".."), { recursive: true });
    const file = await open(temporary, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.#path);
  }
}
