// Our certificate from files: both formats, what is wrong with them, and a renewal without a restart (P1 §5.1, §5.5).
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { renewedSecret } from "../../../src/config/fields.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { meaningOf, refused } from "../../../src/providers/http/answer.js";
import { operationOf } from "../../../src/providers/disposable-certificate/translate.js";
import { call } from "../../../src/providers/http/call.js";
import { ClientCertificate } from "../../../src/providers/http/client-certificate.js";
import type { ClientCertificateFiles } from "../../../src/providers/http/client-certificate.js";
import { clientCertificate, pkcs12 } from "../../../packages/sandbox/src/tls/certificate.js";
import { errorOf } from "../evi-post/account.js";
import { Files, authority, certificates, mutualTls } from "./mutual-tls.js";
import { startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";

const denied = { kind: "accessDenied", effect: "none", denies: "account" };

let files: Files;
let server: ProviderServer;
let sockets: Socket[];
let handler: Handler;
beforeEach(async () => {
  files = new Files();
  sockets = [];
  handler = (_, response, raw) => void response.end(nameOf(raw.socket));
  server = await startProviderServer(
    (request, response, raw) => {
      sockets.push(raw.socket);
      handler(request, response, raw);
    },
    { tls: mutualTls },
  );
});
afterEach(async () => {
  await server.close();
  files.remove();
});

describe("a certificate is read from", () => {
  test("PEM files", async () => {
    expect(await shownBy(pem())).toBe("trustflow");
  });

  test("one PEM file that holds both", async () => {
    const { cert, key } = certificates.good;
    const both = files.put("both.pem", key + cert);
    expect(await shownBy({ ...pem(), certificateFile: both, keyFile: both })).toBe("trustflow");
  });

  test("a PKCS#12 file", async () => {
    expect(await shownBy(p12("open sesame", "open sesame"))).toBe("trustflow");
  });
});

describe("nothing is sent, and access is denied, with", () => {
  test.each(["certificateFile", "keyFile", "caFile"] as const)("no %s", async (missing) => {
    const error = await errorOf(shownBy({ ...pem(), [missing]: "/nowhere/secret.pem" }));
    expect(error).toMatchObject({ ...denied, code: "ENOENT" });
    expect(inspect(error)).not.toContain("nowhere");
  });

  test("a key that belongs to another certificate, as halfway through a renewal", async () => {
    const keyFile = files.put("other-key.pem", certificates.other.key);
    expect(await errorOf(shownBy({ ...pem(), keyFile }))).toMatchObject(denied);
  });

  test("a key of another kind than the certificate's", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pemKey = privateKey.export({ type: "pkcs8", format: "pem" });
    const keyFile = files.put("other-kind.pem", pemKey);
    const error = await errorOf(shownBy({ ...pem(), keyFile }));
    const problem = "the client certificate is unreadable";
    expect(error).toMatchObject({ ...denied, problem, code: "ERR_OSSL_X509_KEY_TYPE_MISMATCH" });
  });

  test("what is no certificate", async () => {
    const certificateFile = files.put("broken.pem", "not a certificate");
    expect(await errorOf(shownBy({ ...pem(), certificateFile }))).toMatchObject(denied);
  });

  test("the wrong passphrase, which the error does not show", async () => {
    const error = await errorOf(shownBy(p12("open sesame", "canary")));
    expect(error).toMatchObject(denied);
    expect(`${inspect(error)} ${error.detail}`).not.toContain("canary");
  });

  afterEach(() => expect(server.received).toEqual([]));
});

describe("a certificate that is replaced on disk", () => {
  test("is shown by the next call, and the idle connection of the old one ends", async () => {
    const tls = new ClientCertificate(pem("first"));
    expect(await shown(tls)).toBe("first");
    expect(await shown(tls)).toBe("first");
    expect(new Set(sockets).size).toBe(1);
    const closed = once(sockets[0]!, "close");
    pem("second");
    expect(await shown(tls)).toBe("second");
    await closed;
  });

  test("leaves a call alone that is under way, and ends its connection after it", async () => {
    const tls = new ClientCertificate(pem("first"));
    let answer: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => {
      handler = (_, response, raw) => {
        answer = () => response.end(nameOf(raw.socket));
        resolve();
      };
    });
    const underWay = shown(tls);
    await arrived;
    const closed = once(sockets[0]!, "close");
    pem("second");
    handler = (_, response, raw) => void response.end(nameOf(raw.socket));
    expect(await shown(tls)).toBe("second");
    answer();
    expect(await underWay).toBe("first");
    await closed;
  });

  test("in two moves is shown after the second; the one before is until then, and is told of once", async () => {
    const kept: unknown[] = [];
    const tls = new ClientCertificate(pem("first"), (code) => kept.push(code));
    expect(await shown(tls)).toBe("first");
    const { cert, key } = clientCertificate("second", authority);
    files.put("own.pem", cert);
    expect([await shown(tls), await shown(tls)]).toEqual(["first", "first"]);
    expect(kept).toEqual(["ERR_OSSL_X509_KEY_VALUES_MISMATCH"]);
    files.put("own-key.pem", "half a ke");
    expect(await shown(tls)).toBe("first");
    files.put("own-key.pem", key);
    expect(await shown(tls)).toBe("second");
    expect(kept).toHaveLength(2);
  });

  test("and does not fit denies access once the one before has expired", async () => {
    const { cert, key } = certificates.expired;
    const given = pem();
    files.put("own.pem", cert);
    files.put("own-key.pem", key);
    const tls = new ClientCertificate(given);
    tls.identity();
    files.put("own.pem", certificates.good.cert);
    expect(await errorOf(shown(tls))).toMatchObject(denied);
    files.put("own-key.pem", certificates.good.key);
    expect(await shown(tls)).toBe("trustflow");
  });

  test("in a PKCS#12 file is shown by the next call, and the idle connection of the old one ends", async () => {
    const tls = new ClientCertificate(p12("open sesame", "open sesame"));
    expect(await shown(tls)).toBe("trustflow");
    const closed = once(sockets[0]!, "close");
    files.put("own.p12", pkcs12(clientCertificate("second", authority), "open sesame"));
    expect(await shown(tls)).toBe("second");
    await closed;
  });

  test("in a PKCS#12 file with another passphrase is shown once that has changed too", async () => {
    const passphrase = renewedSecret().parse({ file: files.put("passphrase", "open sesame\n") });
    const tls = new ClientCertificate({ ...p12("open sesame", ""), passphrase });
    expect(await shown(tls)).toBe("trustflow");
    files.put("own.p12", pkcs12(clientCertificate("second", authority), "hunter2"));
    expect(await shown(tls)).toBe("trustflow");
    files.put("passphrase", "hunter2\n");
    expect(await shown(tls)).toBe("second");
    expect(inspect(tls, { depth: 9, showHidden: true })).not.toContain("hunter2");
  });
});

test("a certificate shows nothing of itself", () => {
  const tls = new ClientCertificate(p12("open sesame", "open sesame"));
  expect(inspect([tls, tls.identity()], { depth: 9, showHidden: true })).not.toContain("sesame");
  expect(JSON.stringify([tls, tls.identity()])).toBe('[{},{"context":{}}]');
});

test.each(["No required SSL certificate was sent", "The SSL certificate error"])(
  "nginx, which lets everybody in and then answers %j, denies access",
  async (title) => {
    const page = `<html>\r\n<head><title>400 ${title}</title></head>\r\n<body>…</body></html>`;
    handler = (_, response) => void response.writeHead(400).end(page);
    const problem = "answered 400: the client certificate is refused or missing";
    const detail = expect.stringContaining(title);
    expect(await errorOf(shownBy(pem()))).toMatchObject({
      ...denied,
      status: 400,
      problem,
      detail,
    });
  },
);

/** The name in the certificate that the server saw. */
async function shown(tls: ClientCertificate): Promise<string> {
  const asked = operationOf("checkData");
  const host = { baseUrl: server.url, timeoutMs: 5_000, tls };
  const request = { method: "POST", path: "/", json: {} } as const;
  const described = { read: ({ body }: { body: Buffer }) => body.toString() };
  const { value } = await call(asked, host, request, described, (answer) =>
    refused(asked, answer, meaningOf(asked, answer.status)),
  );
  return value;
}

const shownBy = (given: ClientCertificateFiles) => shown(new ClientCertificate(given));

function pem(name?: string): ClientCertificateFiles {
  const { cert, key } = name === undefined ? certificates.good : clientCertificate(name, authority);
  return {
    certificateFile: files.put("own.pem", cert),
    keyFile: files.put("own-key.pem", key),
    caFile: files.put("ca.pem", authority.cert),
  };
}

function p12(passphrase: string, given: string): ClientCertificateFiles {
  return {
    pkcs12File: files.put("own.p12", pkcs12(certificates.good, passphrase)),
    passphrase: new Secret(given),
    caFile: files.put("ca.pem", authority.cert),
  };
}

function nameOf(socket: Socket): string {
  return (socket as TLSSocket).getPeerCertificate().subject.CN;
}
