// The memory does not grow with the document: the bounded form of `npm run bench -- --only documents`.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { throughTheStore } from "../../../bench/measures/documents.js";

const MEGABYTE = 1_000_000;

test("500 MB are stored and fetched unchanged with the memory of 50 MB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-large-"));
  try {
    const small = await throughTheStore(folder, 50 * MEGABYTE);
    const large = await throughTheStore(folder, 500 * MEGABYTE);
    for (const way of ["put", "get"] as const)
      expect(large[way].peakMegabytes / small[way].peakMegabytes).toBeLessThan(1.3);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 180_000);
