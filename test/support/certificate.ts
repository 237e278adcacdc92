// X.509 certificates for tests, written in DER by hand: Node signs and reads certificates, but makes none.
import { type KeyObject, X509Certificate, createPrivateKey } from "node:crypto";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

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
const tags = { boolean: 1, integer: 2, bits: 3, octets: 4, oid: 6, text: 12, time: 23 };
const SEQUENCE = 0x30;
const SET = 0x31;
const CONTEXT = 0x80;
const CONSTRUCTED_CONTEXT = 0xa0;

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));

/** An authority of its own. */
export function certificateAuthority(name: string): Certificate {
  return certificate({ subject: name, extension: isAuthority() });
}

/** For a host's name. */
export function serverCertificate(
  host: string,
  issuer: Certificate,
  validity: Validity = {},
): Certificate {
  return certificate({ subject: host, extension: alternativeName(host), issuer, ...validity });
}

function certificate(
  given: { subject: string; extension: Buffer; issuer?: Certificate } & Validity,
): Certificate {
  const { subject, extension, issuer, fromDays = -1, untilDays = 365 } = given;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer: KeyObject = issuer ? createPrivateKey(issuer.key) : privateKey;
  const by = issuer ? new X509Certificate(issuer.cert).subject.replace(/^CN=/, "") : subject;
  const toBeSigned = sequence(
    der(CONSTRUCTED_CONTEXT, der(tags.integer, Buffer.of(2))),
    der(tags.integer, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    commonName(by),
    sequence(time(fromDays), time(untilDays)),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(CONSTRUCTED_CONTEXT + 3, sequence(extension)),
  );
  const signature = Buffer.concat([Buffer.of(0), sign("sha256", toBeSigned, signer)]);
  const whole = sequence(toBeSigned, ecdsaWithSha256, der(tags.bits, signature));
  const lines = whole.toString("base64").replaceAll(/.{1,64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

function commonName(text: string): Buffer {
  return sequence(der(SET, sequence(oid("2.5.4.3"), der(tags.text, Buffer.from(text)))));
}

function time(days: number): Buffer {
  const digits = new Date(Date.now() + days * DAY_MS).toISOString().replaceAll(/\D/g, "");
  return der(tags.time, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function isAuthority(): Buffer {
  const yes = der(tags.boolean, Buffer.of(0xff));
  return sequence(oid("2.5.29.19"), yes, der(tags.octets, sequence(yes)));
}

function alternativeName(host: string): Buffer {
  const name = der(CONTEXT + 2, Buffer.from(host));
  return sequence(oid("2.5.29.17"), der(tags.octets, sequence(name)));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(SEQUENCE, ...parts);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(tags.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const groups = [value % 128];
  for (let left = value >> 7; left > 0; left >>= 7) groups.unshift(128 + (left % 128));
  return groups;
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}
