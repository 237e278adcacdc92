// A place to keep documents implements it. It sees ids and sealed bytes, nothing else.
import type { Pieces, SealedFile } from "../crypto/sealed-stream.js";

/** An open file keeps its content even if its id is replaced or removed. The caller closes it. */
export interface StoredFile extends SealedFile {
  close(): Promise<void>;
}

/** A file without a name: its content is gone once it is closed, or the process ends. */
export interface ScratchFile extends StoredFile {
  /** Adds the bytes at the end. */
  append(bytes: Uint8Array): Promise<void>;
}

export type WhenReady = (replace: () => Promise<void>) => Promise<void>;

export interface DocumentDriver {
  /**
   * Stores all of it or nothing, durably once it returns; nothing if `pieces` throws or the disk is full. The first writer of an id
   * wins: false when the id was there already, and then what was there stays.
   */
  write(id: string, pieces: Pieces): Promise<boolean>;
  /**
   * Replaces the stored bytes durably and atomically: a reader, also after a crash, sees the old or the new bytes. `whenReady`
   * gets the last step, the replacement itself, once the new bytes are stored beside the old ones; if it does not take that step, the old
   * ones stay.
   */
  replace(id: string, pieces: Pieces, whenReady?: WhenReady): Promise<void>;
  /** For small values. */
  read(id: string): Promise<Buffer | undefined>;
  open(id: string): Promise<StoredFile | undefined>;
  exists(id: string): Promise<boolean>;
  /** Durably. No error when the id is not there. */
  remove(id: string): Promise<void>;
  /** A place beside these, with ids of its own, which `list` does not show. */
  part(name: string): DocumentDriver;
  list(): AsyncIterable<{ id: string; storedAt: Date }>;
  scratch(): Promise<ScratchFile>;
  /** Deletes what a crash left half written before `before`, and says how many files that were; with a dry run it only counts. */
  removeUnfinished(before: Date, dryRun: boolean): Promise<number>;
}
