// The certificates of deploy/mtls/make-certificates.sh, as deploy/mtls/compose.yml gives them to Temporal's ports: a client's opens
// the port for clients alone.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { copyFile, readdir, rename, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import type { TlsOptions } from "node:tls";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { authoritiesOfClients, portOfTemporal, root } from "./compose-file.js";
import { temporaryFolder } from "../harness/temporary.js";

const folder = await temporaryFolder();

const make = () => promisify(execFile)("sh", [`${root}deploy/mtls/make-certificates.sh`, folder]);

beforeAll(make, 60_000);

const pem = (name: string) => readFileSync(join(folder, `${name}.pem`));

/** "open" once a byte of the server has come: with TLS 1.3 a client learns of its refusal after the handshake. */
async function knock(server: TlsOptions, name: string): Promise<string> {
  const listener = createServer(server, (socket) => {
    socket.on("error", () => undefined);
    socket.end("open");
  });
  listener.on("tlsClientError", () => undefined);
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const socket = connect({
    port: (listener.address() as AddressInfo).port,
    host: "127.0.0.1",
    servername: "temporal",
    ca: pem("server-ca"),
    cert: pem(name),
    key: pem(`${name}-key`),
  });
  try {
    const said = once(socket, "data").then(([data]) => String(data));
    return await Promise.race([said, once(socket, "close").then(() => "refused")]);
  } catch {
    return "refused";
  } finally {
    socket.destroy();
    listener.close();
  }
}

const clients = [
  ...["migrate", "worker", "relay", "cleanup", "cli", "erase", "temporal-cli", "web-ui"],
  "application",
];

test("Temporal's port for clients opens for each of them, and for its own workers", async () => {
  const port = portOfTemporal(folder, authoritiesOfClients);
  for (const name of [...clients, "temporal"])
    expect([name, await knock(port, name)]).toEqual([name, "open"]);
});

test("its history, matching and membership ports open for its own certificate, and for no client's", async () => {
  const port = portOfTemporal(folder, ["TEMPORAL_TLS_SERVER_CA_CERT"]);
  expect(await knock(port, "temporal")).toBe("open");
  for (const name of clients) expect([name, await knock(port, name)]).toEqual([name, "refused"]);
});

test("a client's certificate stands for no server", async () => {
  const impostor = { cert: pem("worker"), key: pem("worker-key") };
  expect(await knock(impostor, "cli")).toBe("refused");
});

test("a certificate that cannot be signed is not there, OpenSSL says why, and the next run makes it", async () => {
  const [key, away] = ["client-ca-key.pem", "away.pem"].map((name) => join(folder, name));
  await rm(join(folder, "worker.pem"));
  await rename(key!, away!);
  await copyFile(join(folder, "server-ca-key.pem"), key!);
  await expect(make()).rejects.toThrow(/do not match|mismatch/);
  await rename(away!, key!);
  await make();
  expect(await knock(portOfTemporal(folder, authoritiesOfClients), "worker")).toBe("open");
  expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/^(new|openssl)\./));
});
