// A client certificate that is refused never leaves an effect in doubt (P1 §5.1, §5.5): many fresh connections for each way of refusing,
// under both versions of TLS, with bodies that are in one piece and that are not.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { createInterface } from "node:readline";
import { createSecureContext, createServer as createTlsServer } from "node:tls";
import type { SecureVersion } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ProviderError } from "../../../src/providers/errors/provider-error.js";
import { exchange } from "../../../src/providers/http/exchange.js";
import type { HttpRequest } from "../../../src/providers/http/exchange.js";
import { describeWith } from "../../harness/programs.js";
import { errorOf } from "../evi-post/account.js";
import { Files, authority, certificates, mutualTls } from "./mutual-tls.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { ProviderServer } from "../provider-server.js";

const ca = authority.cert;
const identities = {
  good: createSecureContext({ ca, ...certificates.good }),
  other: createSecureContext({ ca, ...certificates.other }),
  expired: createSecureContext({ ca, ...certificates.expired }),
  none: createSecureContext({ ca }),
};
type Shown = keyof typeof identities;
const versions: SecureVersion[] = ["TLSv1.2", "TLSv1.3"];
const refused: Shown[] = ["other", "expired", "none"];
/** Under TLS 1.2 the server refuses within the handshake. Under TLS 1.3 the request may be on its way by then, so that luck decides. */
const calls = { "TLSv1.2": 10, "TLSv1.3": 50 } as Record<SecureVersion, number>;
const inEveryCase = versions.flatMap((version) =>
  refused.map((shown) => [version, shown] as const),
);

/** How a call ends at a server that never says anything: after ten seconds, so the other tests run meanwhile. */
let silence: ReturnType<typeof errorOf>;
beforeAll(async () => {
  const silent = createServer((socket) => void socket.on("error", () => undefined));
  silent.listen(0, "127.0.0.1").unref();
  await once(silent, "listening");
  const url = `https://localhost:${(silent.address() as AddressInfo).port}/`;
  silence = errorOf(exchange(request(url, "good", { timeoutMs: 200 })));
});

describe("a server that hangs up (Node)", () => {
  let server: ProviderServer;
  afterEach(() => server.close());
  const start = async (version: SecureVersion) => {
    const tls = { ...mutualTls, minVersion: version, maxVersion: version };
    server = await startProviderServer(answering("ok"), { tls });
  };

  test.each(inEveryCase)("%s: certificate %s sent nothing", async (version, shown) => {
    await start(version);
    // Node sends an alert for a missing certificate alone; else it hangs up, as a server does that goes down.
    const kind = shown === "none" ? "accessDenied" : "unavailable";
    const count = calls[version];
    expect(await endings(server.url, shown, count)).toEqual({ [`${kind} none`]: count });
    expect(server.received).toEqual([]);
  });

  test.each(versions)("%s: the right certificate is accepted each time", async (version) => {
    await start(version);
    const count = calls[version];
    expect(await endings(server.url, "good", count)).toEqual({ "200": count });
    expect(server.received).toHaveLength(count);
  });

  test("a read keeps its connection, a once-only call opens its own", async () => {
    const sockets = new Set<unknown>();
    server = await startProviderServer(
      (_, response, raw) => {
        sockets.add(raw.socket);
        response.end();
      },
      { tls: mutualTls },
    );
    for (const effectClass of ["read", "read", "once", "once"] as const)
      await exchange(request(server.url, "good", { effectClass }));
    expect(sockets.size).toBe(3);
  });
});

// OpenSSL's own server shows the reason; Trustflow itself does not need it.
describeWith("openssl", "a server that says why", () => {
  const files = new Files();
  let openssl: ChildProcess;
  beforeAll(() => {
    files.put("server.pem", mutualTls.cert + mutualTls.key);
    files.put("ca.pem", ca);
  });
  afterEach(() => void openssl.kill());
  afterAll(() => files.remove());

  async function start(version: SecureVersion, ...more: string[]): Promise<string> {
    const { folder: cwd } = files;
    const checks = ["-CAfile", "ca.pem", "-Verify", "2", "-verify_return_error"];
    const tls = version === "TLSv1.2" ? "-tls1_2" : "-tls1_3";
    const own = ["-accept", "127.0.0.1:0", "-cert", "server.pem", "-key", "server.pem", "-www"];
    const stdio = ["pipe", "pipe", "ignore"] as const;
    openssl = spawn("openssl", ["s_server", ...own, ...checks, tls, ...more], {
      cwd,
      stdio: [...stdio],
    });
    for await (const line of createInterface({ input: openssl.stdout! })) {
      const [, port] = /^ACCEPT .*:(\d+)$/.exec(line) ?? [];
      if (port !== undefined) return `https://localhost:${port}/`;
    }
    throw new Error("openssl s_server has ended");
  }

  test.each(inEveryCase)("%s: certificate %s sent nothing", async (version, shown) => {
    const url = await start(version);
    const count = calls[version];
    expect(await endings(url, shown, count)).toEqual({ "accessDenied none": count });
  });

  test.each(refused)("without session tickets: certificate %s sent nothing", async (shown) => {
    const url = await start("TLSv1.3", "-num_tickets", "0");
    expect(await endings(url, shown, 10)).toEqual({ "accessDenied none": 10 });
    const error = await errorOf(exchange(request(url, shown)));
    const called = { provider: "disposable-certificate", operation: "enroll" };
    expect(error).toMatchObject({ ...called, problem: "the client certificate is refused" });
  });

  test("without session tickets silence is consent", async () => {
    const url = await start("TLSv1.3", "-num_tickets", "0");
    const get = request(url, "good", { method: "GET", body: undefined });
    expect(await exchange(get)).toMatchObject({ status: 200 });
  });
});

describe("what is no refusal of the certificate", () => {
  let sockets: Socket[];
  async function start(onConnection: (socket: Socket) => void): Promise<string> {
    sockets = [];
    const raw = createServer((socket) => {
      sockets.push(socket.on("error", () => undefined));
      onConnection(socket);
    });
    raw.listen(0, "127.0.0.1").unref();
    await once(raw, "listening");
    return `https://localhost:${(raw.address() as AddressInfo).port}/`;
  }
  afterEach(() => sockets.forEach((socket) => socket.destroy()));

  test("a server that goes down in the handshake", async () => {
    const url = await start((socket) => socket.once("data", () => socket.destroy()));
    const error = await errorOf(exchange(request(url, "good")));
    expect(error).toMatchObject({ kind: "unavailable", effect: "none", code: "ECONNRESET" });
  });

  test("a server that goes down right after the handshake, before it has said anything (TLS 1.3)", async () => {
    const down = createTlsServer({ ...mutualTls, minVersion: "TLSv1.3" }, (socket) => {
      socket.destroy();
    });
    down.listen(0, "127.0.0.1").unref();
    await once(down, "listening");
    const { port } = down.address() as AddressInfo;
    const error = await errorOf(exchange(request(`https://localhost:${port}/`, "good")));
    down.close();
    const code = "HUNG_UP_AFTER_HANDSHAKE";
    expect(error).toMatchObject({ kind: "unavailable", effect: "none", code });
  });

  test("a server that is silent in the handshake until the time is over", async () => {
    expect(await silence).toMatchObject({ kind: "unavailable", effect: "none", code: "ETIMEDOUT" });
  });

  test("an abort in the handshake", async () => {
    const abort = new AbortController();
    const url = await start(() => abort.abort());
    const error = await errorOf(exchange(request(url, "good", { signal: abort.signal })));
    expect(error).toMatchObject({ kind: "unavailable", effect: "none", code: "ABORTED" });
  });

  test("a server with an untrusted certificate", async () => {
    const server = await startProviderServer(answering("ok"), { tls: mutualTls });
    const tls = createSecureContext({ ...certificates.good });
    const error = await errorOf(exchange(request(server.url, "good", { tls })));
    await server.close();
    expect(error).toMatchObject({ kind: "unavailable", effect: "none" });
  });

  test("a connection that is cut after the request", async () => {
    const cut = await startProviderServer((_, response) => void response.destroy(), {
      tls: mutualTls,
    });
    const error = await errorOf(exchange(request(cut.url, "good")));
    await cut.close();
    expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown", code: "ECONNRESET" });
  });
});

/** How so many once-only calls end, one after the other. */
async function endings(url: string, shown: Shown, calls: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let call = 0; call < calls; call += 1) {
    const body = "x".repeat(call % 2 === 0 ? 100 : 200_000);
    const ending = await exchange(request(url, shown, { body })).then(
      ({ status }) => String(status),
      (error: unknown) =>
        error instanceof ProviderError ? `${error.kind} ${error.effect}` : String(error),
    );
    counts[ending] = (counts[ending] ?? 0) + 1;
  }
  return counts;
}

function request(url: string, shown: Shown, changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    provider: "disposable-certificate",
    operation: "enroll",
    effectClass: "once",
    method: "POST",
    url: new URL(url),
    headers: {},
    body: "{}",
    tls: identities[shown],
    timeoutMs: 10_000,
    ...changes,
  };
}
