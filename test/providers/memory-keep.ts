// Keeps in memory what a call would keep in the document store's spool, and reads it back.
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import type { Keep, KeptFile } from "../../src/providers/http/exchange.js";

const PIECE_BYTES = 64 * 1024;

export const inMemory: Keep = {
  async keep(pieces) {
    return keptOf(await buffer(pieces));
  },
};

export function keptOf(bytes: Buffer): KeptFile {
  return {
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    async *pieces(start = 0, end = bytes.length) {
      for (let at = start; at < end; at += PIECE_BYTES)
        yield bytes.subarray(at, Math.min(at + PIECE_BYTES, end));
    },
  };
}

interface Checked extends Pick<KeptFile, "size" | "sha256" | "pieces"> {
  crc32?: number;
}

/** Downloaded files with their bytes in place of what reads them, once that is checked. */
export async function withBytes<F extends Checked>(
  files: F[],
): Promise<(Omit<F, keyof Checked> & { bytes: Buffer })[]> {
  return Promise.all(
    files.map(async ({ size, sha256, crc32: sum, pieces, ...file }) => {
      const bytes = await buffer(pieces());
      if (size !== bytes.length || sha256 !== keptOf(bytes).sha256)
        throw new Error("a file is not of its size, or has another hash");
      if (sum !== undefined && sum !== crc32(bytes)) throw new Error("a file has another checksum");
      return { ...file, bytes };
    }),
  );
}
