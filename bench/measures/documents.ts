// A large document into the store and out of it by `trustflow documents put` and `get`: the rate, and whether the memory stays flat. The
// floor is the same command with a document of one megabyte.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { alone, atMost, compared } from "../measure.js";
import type { Measure, Round } from "../measure.js";
import { peakBytes } from "../proc.js";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const MEGABYTE = 1_000_000;
const SMALL = MEGABYTE;
const LARGE = 500 * MEGABYTE;
const EVERY_MS = 20;

export interface Transfer {
  seconds: number;
  peakMegabytes: number;
  stdout: string;
}

export async function measureDocuments({
  quick,
  say,
}: {
  quick: boolean;
  say(line: string): void;
}): Promise<Measure[]> {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-bench-documents-"));
  const rounds: Record<"put" | "get", { memory: Round[]; rate: number[] }> = {
    put: { memory: [], rate: [] },
    get: { memory: [], rate: [] },
  };
  try {
    for (let round = 0; round < (quick ? 1 : 5); round += 1) {
      say(`documents: round ${round + 1}`);
      const small = await throughTheStore(folder, SMALL);
      const large = await throughTheStore(folder, LARGE);
      for (const way of ["put", "get"] as const) {
        const [floor, trustflow] = [small[way].peakMegabytes, large[way].peakMegabytes];
        rounds[way].memory.push({ floor, trustflow });
        const seconds = large[way].seconds - small[way].seconds;
        rounds[way].rate.push((LARGE - SMALL) / MEGABYTE / seconds);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return (["put", "get"] as const).flatMap((way) => [
    compared(
      {
        name: `documents-${way}-memory`,
        unit: "MB resident at most, 500 MB to 1 MB",
        goal: atMost(1.5, "ratio"),
      },
      rounds[way].memory,
    ),
    alone({ name: `documents-${way}-rate`, unit: "MB a second" }, rounds[way].rate),
  ]);
}

/** Stores a file of this size in a new store and fetches it; throws if the bytes differ. */
export async function throughTheStore(
  folder: string,
  bytes: number,
): Promise<{ put: Transfer; get: Transfer }> {
  const env = {
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(folder, "store"),
    TRUSTFLOW_KEYS__DOCUMENTS: `k1:${randomBytes(32).toString("base64")}`,
  };
  const [file, out] = [join(folder, "large.pdf"), join(folder, "out")];
  try {
    const sha256 = await writeLarge(file, bytes);
    const put = await run(["documents", "put", file], env);
    const get = await run(["documents", "get", put.stdout.trim(), "--out", out], env);
    const [name = ""] = await readdir(out);
    if ((await sha256Of(join(out, name))) !== sha256)
      throw new Error("the fetched document differs from the stored file");
    return { put, get };
  } finally {
    for (const each of [file, out, join(folder, "store")])
      await rm(each, { recursive: true, force: true });
  }
}

async function run(args: string[], env: Record<string, string>): Promise<Transfer> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let isOver = false;
  void ended.then(() => (isOver = true));
  let peak = 0;
  while (!isOver) {
    peak = Math.max(peak, peakBytes(child.pid ?? 0));
    await Promise.race([ended, delay(EVERY_MS)]);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`trustflow ${args.join(" ")} ended with ${code}`);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, peakMegabytes: peak / MEGABYTE, stdout };
}

async function writeLarge(path: string, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  const piece = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(MEGABYTE - 9)]);
  const file = await open(path, "w");
  try {
    for (let left = bytes; left > 0; left -= MEGABYTE) {
      piece.writeUInt32BE(left, 16);
      const part = piece.subarray(0, Math.min(left, MEGABYTE));
      hash.update(part);
      await file.writeFile(part);
    }
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest("hex");
}
