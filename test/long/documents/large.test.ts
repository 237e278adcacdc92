// The memory does not grow with the document: the bounded form of `npm run bench -- --only documents`.
import { expect, test } from "vitest";
import { throughTheStore } from "../../../bench/measures/documents.js";
import { temporaryFolder } from "../../harness/temporary.js";

const MEGABYTE = 1_000_000;

test("200 MB are stored and fetched unchanged with the memory of 60 MB", async () => {
  const folder = await temporaryFolder();
  // Enough for the buffers to reach their full size before the garbage collector runs.
  const small = await throughTheStore(folder, 60 * MEGABYTE);
  const large = await throughTheStore(folder, 200 * MEGABYTE);
  for (const way of ["put", "get"] as const)
    expect(large[way].peakMegabytes / small[way].peakMegabytes).toBeLessThan(1.3);
}, 180_000);
