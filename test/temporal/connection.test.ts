import { writeFile } from "node:fs/promises";
import { constants, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigurationError, UnreachableError } from "../../src/errors/index.js";
import {
  connectClient,
  connectionOptions,
  hostInClear,
  connectionWithoutRetries,
} from "../../src/temporal/connection.js";
import { connectWorker } from "../../src/temporal/worker-connection.js";
import { closedPort } from "../cli/doctor/doctor.js";
import { freshRing, testTemporal } from "./support.js";
import { temporaryFolder } from "../harness/temporary.js";
import { ofFile } from "../harness/of-file.js";

let folder: string;
let saved: NodeJS.ProcessEnv;

const env = ofFile(testTemporal);

beforeEach(async () => {
  folder = await temporaryFolder();
  saved = { ...process.env };
  for (const name of Object.keys(process.env))
    if (name.startsWith("TEMPORAL_")) delete process.env[name];
  process.env["TEMPORAL_CONFIG_FILE"] = join(folder, "temporal.toml");
});
afterEach(async () => {
  process.env = saved;
});

test("without any configuration it is the local server's default namespace", () => {
  expect(connectionOptions()).toEqual({
    address: "localhost:7233",
    namespace: "default",
    options: { address: "localhost:7233" },
  });
});

test("a file that cannot be read is named by its variable, with the reason and never with its path", async () => {
  process.env["TEMPORAL_TLS"] = "true";
  process.env["TEMPORAL_TLS_CLIENT_CERT_PATH"] = join(folder, "certificate");
  await writeFile(join(folder, "certificate"), "");
  process.env["TEMPORAL_TLS_CLIENT_KEY_PATH"] = "-----BEGIN PRIVATE KEY-----";
  expect(() => connectionOptions()).toThrow(
    /a file that a variable TEMPORAL_\* or temporal.toml names cannot be read \(ENOENT\)$/,
  );
  process.env["TEMPORAL_CONFIG_FILE"] = join(folder, "certificate", "temporal.toml");
  expect(() => connectionOptions()).toThrow(
    /temporal.toml cannot be read \(ENOTDIR\): make it readable, or set TEMPORAL_CONFIG_FILE$/,
  );
});

test("temporal.toml gives address, namespace, TLS and API key", async () => {
  const toml =
    '[profile.default]\naddress = "a.example:7233"\nnamespace = "letters"\napi_key = "secret-key"\n';
  await writeFile(join(folder, "temporal.toml"), toml);
  expect(connectionOptions()).toMatchObject({
    address: "a.example:7233",
    namespace: "letters",
    options: { address: "a.example:7233", apiKey: "secret-key", tls: true },
  });
});

test("the environment goes before the file, and what the caller says before both", async () => {
  await writeFile(
    join(folder, "temporal.toml"),
    '[profile.default]\naddress = "a.example:7233"\nnamespace = "file"\n',
  );
  process.env["TEMPORAL_ADDRESS"] = "b.example:7233";
  expect(connectionOptions()).toMatchObject({ address: "b.example:7233", namespace: "file" });
  process.env["TEMPORAL_NAMESPACE"] = "environment";
  expect(connectionOptions({ address: "c.example:7233" })).toMatchObject({
    address: "c.example:7233",
    namespace: "environment",
    options: { address: "c.example:7233" },
  });
});

test.each(["localhost:99999", "my host:7233"])(
  "the address %s is refused by its key",
  async (address) => {
    process.env["TEMPORAL_ADDRESS"] = address;
    expect(() => hostInClear(connectionOptions())).toThrow(ConfigurationError);
    expect(() => hostInClear(connectionOptions())).toThrow("TEMPORAL_ADDRESS (address) must be");
  },
);

test("client and worker connect where the environment says, each with the namespace", async () => {
  process.env["TEMPORAL_ADDRESS"] = env.address;
  process.env["TEMPORAL_NAMESPACE"] = "letters";
  const client = await connectClient(freshRing(), { identity: "the-test" });
  const worker = await connectWorker();
  try {
    expect(client.namespace).toBe("letters");
    expect(client.client.options).toMatchObject({ namespace: "letters", identity: "the-test" });
    expect(client.client.options.loadedDataConverter.payloadCodecs).toHaveLength(1);
    expect(worker.namespace).toBe("letters");
    await expect(worker.connection.healthService.check({})).resolves.toBeDefined();
  } finally {
    await client.close();
    await worker.close();
  }
});

test("a server that is not there is one clear error with its address, for client and worker", async () => {
  const address = `127.0.0.1:${await closedPort()}`;
  const attempts = await Promise.allSettled([
    connectClient(freshRing(), { address }),
    connectWorker({ address }),
  ]);
  for (const attempt of attempts) {
    const { reason } = attempt as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(UnreachableError);
    expect(reason).toMatchObject({ retryable: true, details: { address } });
    expect((reason as Error).message).toMatch(
      new RegExp(`^Cannot reach Temporal at ${address}: [\\w ]+$`),
    );
    expect((reason as Error).cause).toBeUndefined();
  }
});

test("a connection without retries makes a call once, although its answer invites another one", async () => {
  let calls = 0;
  const UNAVAILABLE = "14";
  const server = createHttp2Server().on("stream", (stream) => {
    calls += 1;
    stream.respond(
      {
        [constants.HTTP2_HEADER_STATUS]: 200,
        [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
        "grpc-status": UNAVAILABLE,
      },
      { endStream: true },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env["TEMPORAL_ADDRESS"] = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = connectionWithoutRetries();
  try {
    const reset = connection.workflowService.resetWorkflowExecution({ requestId: "one" });
    await expect(reset).rejects.toMatchObject({ code: Number(UNAVAILABLE) });
    expect(calls).toBe(1);
  } finally {
    await connection.close();
    server.close();
  }
});
