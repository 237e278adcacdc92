// The proxy in front of Temporal behind which a rehearsal kills a worker.
import { afterEach, expect, test } from "vitest";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { openGate } from "../src/processes/gate.js";
import type { Gate } from "../src/processes/gate.js";

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const closer of closers.splice(0)) closer();
});

/** Answers each text with itself. */
async function behind(): Promise<{ gate: Gate; heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      heard.push(String(data));
      socket.write(data);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const gate = await openGate((server.address() as AddressInfo).port);
  closers.push(gate.close, () => server.close());
  return { gate, heard };
}

async function clientOf({ address }: Gate): Promise<Socket> {
  const client = connect(Number(address.split(":")[1]), "127.0.0.1");
  closers.push(() => client.destroy());
  client.on("error", () => undefined);
  await once(client, "connect");
  return client;
}

test("what is sent goes through, and the answer comes back", async () => {
  const { gate } = await behind();
  const client = await clientOf(gate);
  client.write("one");
  expect(String((await once(client, "data"))[0])).toBe("one");
});

test("what is sent while the gate is shut never arrives, and the connection ends when it opens", async () => {
  const { gate, heard } = await behind();
  const client = await clientOf(gate);
  client.write("one");
  await once(client, "data");
  gate.shut();
  const later = await clientOf(gate);
  for (const each of [client, later]) each.write("two");
  await delay(100);
  expect(heard).toEqual(["one"]);
  const ends = [once(client, "close"), once(later, "close")];
  for (const each of [client, later]) each.resume();
  gate.open();
  await Promise.all(ends);
  const next = await clientOf(gate);
  next.write("three");
  await once(next, "data");
  expect(heard).toEqual(["one", "three"]);
});
