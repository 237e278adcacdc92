// X.509 certificates and PKCS#12 files: Node makes the keys and signs, node-forge makes what Node cannot make.
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import forge from "node-forge";

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

export interface Validity {
  /** From today; negative is the past. */
  fromDays?: number;
  untilDays?: number;
}

const DAY_MS = 86_400_000;
const keyUsage = {
  name: "keyUsage",
  critical: true,
  digitalSignature: true,
  keyEncipherment: true,
};

/** An authority of its own. */
export function certificateAuthority(name: string, validity: Validity = {}): Certificate {
  const basic = { name: "basicConstraints", critical: true, cA: true };
  const usage = { name: "keyUsage", critical: true, keyCertSign: true, cRLSign: true };
  return certificate(name, [basic, usage], validity);
}

/** For hosts by name or address; the first one is its subject. */
export function serverCertificate(
  hosts: readonly [string, ...string[]],
  issuer: Certificate,
  validity: Validity = {},
): Certificate {
  const altNames = hosts.map((host) =>
    isIP(host) ? { type: 7, ip: host } : { type: 2, value: host },
  );
  const usage = { name: "extKeyUsage", serverAuth: true };
  return certificate(
    hosts[0],
    [keyUsage, usage, { name: "subjectAltName", altNames }],
    validity,
    issuer,
  );
}

/** For a user, whose name is its subject. */
export function clientCertificate(
  name: string,
  issuer: Certificate,
  validity: Validity = {},
): Certificate {
  return certificate(name, [keyUsage, { name: "extKeyUsage", clientAuth: true }], validity, issuer);
}

/** Certificate and key in one file. */
export function pkcs12({ cert, key }: Certificate, password: string): Buffer {
  const { pki, pkcs12: p12, asn1 } = forge;
  const file = p12.toPkcs12Asn1(
    pki.privateKeyFromPem(key),
    [pki.certificateFromPem(cert)],
    password,
    { algorithm: "aes256" },
  );
  return Buffer.from(asn1.toDer(file).getBytes(), "latin1");
}

function certificate(
  subject: string,
  extensions: object[],
  { fromDays = -1, untilDays = 365 }: Validity,
  issuer?: Certificate,
): Certificate {
  const { pki, md, asn1 } = forge;
  const keys = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const made = pki.createCertificate();
  made.publicKey = pki.publicKeyFromPem(keys.publicKey);
  made.serialNumber = `01${randomBytes(8).toString("hex")}`;
  made.validity.notBefore = new Date(Date.now() + fromDays * DAY_MS);
  made.validity.notAfter = new Date(Date.now() + untilDays * DAY_MS);
  const name = [{ name: "commonName", value: subject }];
  made.setSubject(name);
  made.setIssuer(issuer ? pki.certificateFromPem(issuer.cert).subject.attributes : name);
  made.setExtensions(extensions);
  // A hundred times as fast as node-forge's own signature.
  const signer = {
    sign() {
      const signed = Buffer.from(asn1.toDer(made.tbsCertificate).getBytes(), "latin1");
      return sign("sha256", signed, issuer?.key ?? keys.privateKey).toString("latin1");
    },
  };
  made.sign(signer as unknown as forge.pki.rsa.PrivateKey, md.sha256.create());
  return { cert: pki.certificateToPem(made), key: keys.privateKey };
}
