// Submitted documents by their SHA-256, so that a thousand copies of one PDF take the room of one; files where state is kept.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export class DocumentFiles {
  readonly #folder: string | undefined;
  readonly #documents = new Map<string, Buffer>();

  constructor(stateDirectory: string | undefined) {
    this.#folder = stateDirectory === undefined ? undefined : join(stateDirectory, "documents");
    if (this.#folder) mkdirSync(this.#folder, { recursive: true });
  }

  put(bytes: Buffer): string {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (!this.#folder) {
      if (!this.#documents.has(sha256)) this.#documents.set(sha256, bytes);
    } else if (!existsSync(this.#path(sha256))) {
      const temporary = `${this.#path(sha256)}.tmp`;
      writeFileSync(temporary, bytes, { mode: 0o600 });
      renameSync(temporary, this.#path(sha256));
    }
    return sha256;
  }

  get(sha256: string): Buffer {
    if (this.#folder) return readFileSync(this.#path(sha256));
    return this.#documents.get(sha256) ?? Buffer.alloc(0);
  }

  clear(): void {
    this.#documents.clear();
    if (!this.#folder) return;
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
  }

  #path(sha256: string): string {
    return join(this.#folder ?? "", `${sha256}.pdf`);
  }
}
