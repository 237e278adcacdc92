// Documents as files of one directory, in 256 folders by the first two digits of the id. Several processes may share it.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Pieces } from "../crypto/sealed-stream.js";
import type { DocumentDriver, ScratchFile, StoredFile, WhenReady } from "./driver.js";
import { DocumentStoreFullError, DocumentStoreUnavailableError } from "../errors/index.js";
import { wrongArgument } from "../errors/arguments.js";

const ID = /^[0-9a-f]{32}$/;
const SHARD = /^[0-9a-f]{2}$/;
const UNFINISHED = /^\.[0-9a-f]{32}\.[0-9a-f]{16}$/;
const SCRATCH = /^\.scratch\.[0-9a-f]{16}$/;

export class DirectoryDriver implements DocumentDriver {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async write(id: string, pieces: Pieces): Promise<boolean> {
    const path = this.#path(id);
    const folder = dirname(path);
    await makeDurableFolder(folder);
    const temporary = join(folder, `.${id}.${randomBytes(8).toString("hex")}`);
    try {
      await writeThrough(temporary, pieces);
      // Unlike a rename, a link never replaces an existing file.
      const won = await link(temporary, path).then(() => true, unless("EEXIST", false));
      await sync(folder);
      return won;
    } finally {
      await rm(temporary, { force: true }).catch(storeFails);
    }
  }

  async replace(
    id: string,
    pieces: Pieces,
    whenReady: WhenReady = (replace) => replace(),
  ): Promise<void> {
    const path = this.#path(id);
    const folder = dirname(path);
    const temporary = join(folder, `.${id}.${randomBytes(8).toString("hex")}`);
    try {
      await writeThrough(temporary, pieces);
      await whenReady(async () => {
        await rename(temporary, path).catch(storeFails);
        await sync(folder);
      });
    } finally {
      await rm(temporary, { force: true }).catch(storeFails);
    }
  }

  part(name: string): DirectoryDriver {
    return new DirectoryDriver(join(this.#root, name));
  }

  async read(id: string): Promise<Buffer | undefined> {
    return readFile(this.#path(id)).catch(unless("ENOENT", undefined));
  }

  async open(id: string): Promise<StoredFile | undefined> {
    const file = await open(this.#path(id), "r").catch(unless("ENOENT", undefined));
    if (!file) return undefined;
    try {
      return new OpenFile(file, (await file.stat().catch(storeFails)).size);
    } catch (error) {
      await file.close().catch(storeFails);
      throw error;
    }
  }

  /** The name is removed before the first write, so that a crash leaves an empty file at most. */
  async scratch(): Promise<ScratchFile> {
    await makeDurableFolder(this.#root);
    const path = join(this.#root, `.scratch.${randomBytes(8).toString("hex")}`);
    const file = await open(path, "wx+", 0o600).catch(storeFails);
    try {
      await rm(path).catch(storeFails);
      return new OpenFile(file, 0);
    } catch (error) {
      await file.close().catch(storeFails);
      throw error;
    }
  }

  async exists(id: string): Promise<boolean> {
    return stat(this.#path(id)).then(() => true, unless("ENOENT", false));
  }

  async remove(id: string): Promise<void> {
    const path = this.#path(id);
    const folder = dirname(path);
    await rm(path, { force: true }).catch(storeFails);
    const names = await readdir(folder).catch(unless("ENOENT", undefined));
    if (!names) return;
    for (const name of names) {
      if (name.startsWith(`.${id}.`))
        await rm(join(folder, name), { force: true }).catch(storeFails);
    }
    // Also where the file was not there: an earlier removal may have failed before this.
    await sync(folder);
  }

  /** Lists files that a crash left half written too, so that retention finds and removes them. */
  async *list(): AsyncIterable<{ id: string; storedAt: Date }> {
    for (const shard of (await namesIn(this.#root)).filter((name) => SHARD.test(name))) {
      const folder = join(this.#root, shard);
      const seen = new Set<string>();
      const names = await namesIn(folder);
      // The date of the finished document counts, so unfinished ones, which start with a dot, come last.
      for (const name of [
        ...names.filter((name) => ID.test(name)),
        ...names.filter((name) => UNFINISHED.test(name)),
      ]) {
        const id = name.startsWith(".") ? name.slice(1, 33) : name;
        if (seen.has(id)) continue;
        const found = await stat(join(folder, name)).catch(unless("ENOENT", undefined));
        if (found === undefined) continue;
        seen.add(id);
        yield { id, storedAt: found.mtime };
      }
    }
  }

  async removeUnfinished(before: Date, dryRun: boolean): Promise<number> {
    let removed = 0;
    const look = async (folder: string, form: RegExp) => {
      for (const name of (await namesIn(folder)).filter((one) => form.test(one))) {
        const path = join(folder, name);
        const found = await stat(path).catch(unless("ENOENT", undefined));
        if (found === undefined || found.mtime >= before) continue;
        if (!dryRun) await rm(path, { force: true }).catch(storeFails);
        removed += 1;
      }
    };
    await look(this.#root, SCRATCH);
    for (const shard of (await namesIn(this.#root)).filter((name) => SHARD.test(name)))
      await look(join(this.#root, shard), UNFINISHED);
    return removed;
  }

  #path(id: string): string {
    if (!ID.test(id)) throw wrongArgument("uri", "must be document:<32 hex digits>");
    return join(this.#root, id.slice(0, 2), id);
  }
}

class OpenFile implements ScratchFile {
  readonly #file: FileHandle;
  #size: number;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  async read(position: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.#size - position));
    const bytes = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await this.#file
        .read(bytes, filled, wanted - filled, position + filled)
        .catch(storeFails);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#file.writeFile(bytes).catch(storeFails);
    this.#size += bytes.length;
  }

  async close(): Promise<void> {
    await this.#file.close().catch(storeFails);
  }
}

async function makeDurableFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 }).catch(storeFails);
  if (first === undefined) return;
  // A new folder is durable once the one that lists it is.
  for (let at = folder; ; at = dirname(at)) {
    await sync(dirname(at));
    if (at === first) return;
  }
}

async function writeThrough(path: string, pieces: Pieces): Promise<void> {
  const file = await open(path, "wx", 0o600).catch(storeFails);
  try {
    for await (const piece of pieces) await file.writeFile(piece).catch(storeFails);
    await file.sync().catch(storeFails);
  } finally {
    await file.close().catch(storeFails);
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(storeFails);
  try {
    await handle.sync().catch(storeFails);
  } finally {
    await handle.close().catch(storeFails);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(unless("ENOENT", []));
}

function storeFails(error: NodeJS.ErrnoException): never {
  const { code } = error;
  if (code === "ENOSPC" || code === "EDQUOT") throw new DocumentStoreFullError(error);
  throw code === undefined ? error : new DocumentStoreUnavailableError(code, error);
}

function unless<T>(code: string, value: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === code) return value;
    return storeFails(error as NodeJS.ErrnoException);
  };
}
