// What a place to keep documents must do. It sees ids and sealed bytes, nothing else.

export interface DocumentDriver {
  /**
   * Stores all of it or nothing, durably once it returns. The first writer of an id wins: false when the id was
   * there already, and then what was there stays.
   */
  write(id: string, bytes: Uint8Array): Promise<boolean>;
  /** Replaces the stored bytes durably and atomically: a reader, also after a crash, sees the old or the new bytes. */
  replace(id: string, bytes: Uint8Array): Promise<void>;
  read(id: string): Promise<Buffer | undefined>;
  exists(id: string): Promise<boolean>;
  /** No error when the id is not there. */
  remove(id: string): Promise<void>;
  /** A place beside these, with ids of its own, which `list` does not show. */
  part(name: string): DocumentDriver;
  list(): AsyncIterable<{ id: string; storedAt: Date }>;
}
