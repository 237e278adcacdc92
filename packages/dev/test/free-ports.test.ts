// Ports given to one process are given to no other, even before anything listens on them.
import { expect, test } from "vitest";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { freePorts, reservePort } from "../src/processes/free-ports.js";

const module = new URL("../dist/processes/free-ports.js", import.meta.url).href;

async function elsewhere(code: string): Promise<unknown> {
  const script = `import { freePorts, reservePort } from ${JSON.stringify(module)};
console.log(JSON.stringify(await (${code})));`;
  const args = ["--input-type=module", "--eval", script];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as unknown;
}

test("another process cannot reserve a port that this one was given", async () => {
  const [port] = await freePorts(1);
  expect(await elsewhere(`reservePort(${port})`)).toBe(false);
});

test("a port is free again when the process that had it has ended, and is given once to one process", async () => {
  const [port] = (await elsewhere("freePorts(1)")) as [number];
  expect(await reservePort(port)).toBe(true);
  expect(await reservePort(port)).toBe(false);
});
