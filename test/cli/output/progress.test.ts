// The line that shows how far a transfer is: on a terminal, and nowhere else.
import { expect, vi, test } from "vitest";
import { progressLine, withProgress } from "../../../src/cli/output/progress.js";

function screen(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  return { written, stream: { isTTY, write, columns: 120 } as unknown as NodeJS.WriteStream };
}

async function* pieces(count: number, size: number): AsyncGenerator<Buffer> {
  for (let number = 0; number < count; number++) yield Buffer.alloc(size);
}

async function run(isTTY: boolean): Promise<{ bytes: number; written: string[] }> {
  const { written, stream } = screen(isTTY);
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 60));
  let bytes = 0;
  try {
    for await (const piece of withProgress("letter.pdf", 400, pieces(4, 100), stream))
      bytes += piece.length;
  } finally {
    clock.mockRestore();
  }
  return { bytes, written };
}

test("on a terminal the line is written over, not with every piece, and is gone at the end", async () => {
  const { bytes, written } = await run(true);
  expect(bytes).toBe(400);
  expect(written).toHaveLength(3);
  for (const text of written) expect(text.split("\r\u001b[K")).toEqual(["", expect.any(String)]);
  expect(written.join("")).not.toContain("\n");
  expect(written[0]).toContain("letter.pdf [===============...............] 50 %");
  expect(written.at(-1)).toBe("\r\u001b[K");
});

test("without a terminal nothing is written", async () => {
  expect(await run(false)).toEqual({ bytes: 400, written: [] });
});

test("the line goes when the transfer fails, and the error comes through", async () => {
  const { written, stream } = screen(true);
  async function* broken() {
    yield Buffer.alloc(1);
    throw new Error("cut");
  }
  const read = async () => {
    for await (const _ of withProgress("x", 2, broken(), stream));
  };
  await expect(read()).rejects.toThrow("cut");
  expect(written.at(-1)).toBe("\r\u001b[K");
});

test("share, size, rate and time left", () => {
  const line = { name: "a.zip", bytes: 250e6, totalBytes: 500e6, elapsedMs: 2_000 };
  expect(progressLine(line, 120).source).toBe(
    `a.zip [${"=".repeat(15)}${".".repeat(15)}] 50 % 250/500 MB, 125 MB/s, 2 s left`,
  );
});

test.each([120, 80, 60, 20])("on a terminal of %i columns no line wraps", (columns) => {
  for (const bytes of [0, 1, 250e6, 500e6, 600e6]) {
    const name = "x".repeat(500);
    const line = progressLine({ name, bytes, totalBytes: 500e6, elapsedMs: 2_000 }, columns).source;
    expect(line.length).toBeLessThan(columns);
    expect(line).not.toContain("-");
    expect(line).toContain(`${Math.min(100, Math.floor(bytes / 5e6))} %`);
  }
});
