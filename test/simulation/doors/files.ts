// Files in memory below one folder, in the place of libuv's, which would end in the order of its threads. The functions of node:fs
// and node:fs/promises are those that production code uses; any other path is real. A file survives its program, like a page cache.
import { createRequire, syncBuiltinESMExports } from "node:module";
import type fs from "node:fs";
import { dirname, resolve } from "node:path";
import { Transform } from "node:stream";
import type { Random } from "../random.js";
import { theWorld } from "../world.js";
import type { World } from "../world.js";

interface Node {
  bytes: Buffer;
  isFolder: boolean;
  mtime: Date;
  ino: number;
}

type Encoding = BufferEncoding | { encoding?: BufferEncoding | null } | null | undefined;
type Flags = { recursive?: boolean; force?: boolean };

export class Files {
  readonly root: string;
  readonly world: World;
  /** Faults: the code of the error that a write of so many bytes ends with, such as ENOSPC. */
  onWrite: (path: string, size: number) => string | undefined = () => undefined;
  readonly #random: Random;
  readonly #nodes = new Map<string, Node>();
  #lastIno = 0;

  constructor(world: World, root: string) {
    this.world = world;
    this.root = resolve(root);
    this.#random = world.fork("files");
    this.#nodes.set(this.root, this.#node(true));
  }

  covers(path: unknown): path is string {
    if (typeof path !== "string" || theWorld() !== this.world) return false;
    const full = resolve(path);
    return full === this.root || full.startsWith(`${this.root}/`);
  }

  /** What is there, for checks: paths below the root. */
  paths(): string[] {
    return [...this.#nodes.keys()].filter((path) => path !== this.root);
  }

  /** As the disk does it: a little later, and not at all for a program that has ended by then. */
  later<T>(work: () => T): Promise<T> {
    return new Promise((settle, reject) => {
      this.world.after(this.#random.int(0, 2), () => {
        try {
          settle(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  stat(path: string) {
    return statsOf(this.#at(path, "stat"));
  }

  exists(path: string): boolean {
    return this.#nodes.has(resolve(path));
  }

  mkdir(path: string, { recursive = false }: Flags = {}): string | undefined {
    const full = resolve(path);
    if (this.#nodes.has(full)) {
      if (recursive) return undefined;
      throw failure("EEXIST", "mkdir", path);
    }
    const first =
      recursive && !this.#nodes.has(dirname(full))
        ? this.mkdir(dirname(full), { recursive })
        : undefined;
    this.#parent(full, "mkdir");
    this.#nodes.set(full, this.#node(true));
    return recursive ? (first ?? full) : undefined;
  }

  readdir(path: string): string[] {
    if (!this.#at(path, "scandir").isFolder) throw failure("ENOTDIR", "scandir", path);
    const start = `${resolve(path)}/`;
    return [...this.#nodes.keys()]
      .filter((one) => one.startsWith(start) && !one.slice(start.length).includes("/"))
      .map((one) => one.slice(start.length));
  }

  readFile(path: string, encoding?: Encoding): Buffer | string {
    const { bytes } = this.#at(path, "open");
    const name = typeof encoding === "object" ? encoding?.encoding : encoding;
    return name ? bytes.toString(name) : Buffer.from(bytes);
  }

  writeFile(path: string, content: string | Uint8Array): void {
    this.write(path, this.#opened(path, "w"), content);
  }

  rename(from: string, to: string): void {
    const node = this.#at(from, "rename");
    this.#parent(resolve(to), "rename");
    const [old, next] = [resolve(from), resolve(to)];
    this.#nodes.delete(old);
    this.#nodes.set(next, node);
    for (const [path, one] of [...this.#nodes])
      if (path.startsWith(`${old}/`)) {
        this.#nodes.delete(path);
        this.#nodes.set(next + path.slice(old.length), one);
      }
  }

  link(from: string, to: string): void {
    const node = this.#at(from, "link");
    if (this.exists(to)) throw failure("EEXIST", "link", to);
    this.#parent(resolve(to), "link");
    this.#nodes.set(resolve(to), node);
  }

  rm(path: string, { force = false, recursive = false }: Flags = {}): void {
    const full = resolve(path);
    if (!this.#nodes.has(full)) {
      if (force) return;
      throw failure("ENOENT", "rm", path);
    }
    const below = [...this.#nodes.keys()].filter((one) => one.startsWith(`${full}/`));
    if (below.length > 0 && !recursive) throw failure("ERR_FS_EISDIR", "rm", path);
    for (const one of [full, ...below]) this.#nodes.delete(one);
  }

  /** What of `FileHandle` is used. */
  open(path: string, flags = "r") {
    const node = this.#opened(path, flags);
    let at = flags.startsWith("a") ? node.bytes.length : 0;
    return {
      stat: () => this.later(() => statsOf(node)),
      read: (buffer: Buffer, offset: number, length: number, position: number) =>
        this.later(() => {
          const bytesRead = node.bytes.copy(buffer, offset, position, position + length);
          return { bytesRead, buffer };
        }),
      writeFile: (content: string | Uint8Array) =>
        this.later(() => (at = this.write(path, node, content, at))),
      sync: () => this.later(() => undefined),
      close: () => this.later(() => undefined),
    };
  }

  /** Returns where it ends. */
  write(path: string, node: Node, content: string | Uint8Array, at = 0): number {
    const bytes = Buffer.from(content as string);
    const code = this.onWrite(path, bytes.length);
    if (code) throw failure(code, "write", path);
    this.world.trace("file", path, at);
    node.bytes = Buffer.concat([
      node.bytes.subarray(0, at),
      bytes,
      node.bytes.subarray(at + bytes.length),
    ]);
    node.mtime = new Date();
    return at + bytes.length;
  }

  #opened(path: string, flags: string): Node {
    const full = resolve(path);
    const found = this.#nodes.get(full);
    if (flags.startsWith("r")) return this.#at(path, "open");
    if (found && flags.includes("x")) throw failure("EEXIST", "open", path);
    this.#parent(full, "open");
    const code = found ? undefined : this.onWrite(path, 0);
    if (code) throw failure(code, "open", path);
    const node = found ?? this.#node(false);
    if (flags.startsWith("w")) node.bytes = Buffer.alloc(0);
    this.#nodes.set(full, node);
    return node;
  }

  #node(isFolder: boolean): Node {
    return {
      bytes: Buffer.alloc(0),
      isFolder,
      mtime: new Date(this.world.now),
      ino: ++this.#lastIno,
    };
  }

  #at(path: string, call: string): Node {
    const node = this.#nodes.get(resolve(path));
    if (!node) throw failure("ENOENT", call, path);
    return node;
  }

  #parent(full: string, call: string): void {
    if (!this.#nodes.get(dirname(full))?.isFolder) throw failure("ENOENT", call, full);
  }
}

function statsOf({ bytes, isFolder, mtime, ino }: Node) {
  const kind = { isFile: () => !isFolder, isDirectory: () => isFolder };
  return {
    ...kind,
    size: bytes.length,
    mtime,
    mtimeMs: mtime.getTime(),
    mtimeNs: BigInt(mtime.getTime()) * 1_000_000n,
    ino,
  };
}

function failure(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path });
}

let files: Files | undefined;

/** Everything below `root`, which need not exist, is in memory from now on. */
export function installFiles(world: World, root: string): Files {
  files = new Files(world, root);
  return files;
}

type Call = (...args: unknown[]) => unknown;
const calls = [
  "stat",
  "mkdir",
  "readdir",
  "readFile",
  "writeFile",
  "rename",
  "link",
  "rm",
] as const;

function replaceFiles(): void {
  const module = createRequire(import.meta.url)("node:fs") as typeof fs;
  const put = (target: object, name: string, ours: (found: Files) => Call) => {
    const functions = target as Record<string, Call>;
    const native = functions[name] as Call;
    const replaced = (...args: unknown[]) =>
      files?.covers(args[0]) ? ours(files)(...args) : native(...args);
    functions[name] = Object.assign(replaced, native);
  };
  for (const name of calls) {
    put(module, `${name}Sync`, (found) => (found[name] as Call).bind(found));
    put(
      module.promises,
      name,
      (found) =>
        (...args) =>
          found.later(() => (found[name] as Call).apply(found, args)),
    );
  }
  put(module, "existsSync", (found) => found.exists.bind(found) as Call);
  put(
    module.promises,
    "open",
    (found) =>
      (...args) =>
        found.later(() => (found.open as Call).apply(found, args)),
  );
}

/** Inflates at the end and in this thread; Node's own answers from another one, at a time of its own. */
function replaceInflate(): void {
  const zlib = createRequire(import.meta.url)("node:zlib") as typeof import("node:zlib");
  const native = zlib.createInflateRaw;
  const inThisThread = () => {
    const pieces: Buffer[] = [];
    return new Transform({
      transform(piece: Buffer, _encoding, done) {
        pieces.push(piece);
        done();
      },
      flush(done) {
        try {
          done(null, zlib.inflateRawSync(Buffer.concat(pieces)));
        } catch (error) {
          done(error as Error);
        }
      },
    });
  };
  const value = (options: object) =>
    theWorld() ? (inThisThread() as ReturnType<typeof native>) : native(options);
  Object.defineProperty(zlib, "createInflateRaw", { value, configurable: true, enumerable: true });
}

replaceFiles();
replaceInflate();
syncBuiltinESMExports();
