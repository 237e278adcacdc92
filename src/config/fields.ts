// The kinds of configuration values: from TOML with their type, from the environment as text (DESIGN §13).
import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { Secret } from "../contracts/values.js";

/** A value that came from an environment variable, and so as text. */
export class FromEnvironment {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const plain = (value: unknown) => (value instanceof FromEnvironment ? value.text : value);
export const text = () => z.preprocess(plain, z.string().min(1));
export const numbers = () =>
  z.preprocess(
    (value) =>
      value instanceof FromEnvironment ? value.text.split(",").filter(Boolean).map(Number) : value,
    z.array(z.int()),
  );
export const url = () => z.preprocess(plain, z.url({ protocol: /^https?$/ }));
/** Where a provider is: a path is added to it, so nothing may stand behind its own, and its credentials have their own keys. */
export const baseUrl = (protocol = /^https?$/) =>
  z.preprocess(
    plain,
    z
      .url({ protocol, abort: true })
      .refine((given) => !/[?#]/.test(given), "must have no query and no fragment")
      .refine((given) => !hasUser(new URL(given)), "must have no user name and no password in it"),
  );
const hasUser = (given: URL) => given.username !== "" || given.password !== "";
/** Where a client certificate is shown. */
export const tlsBaseUrl = () => baseUrl(/^https$/);
/** Of HTTP Basic, where a colon ends it (P1 §5.1, §5.3; P2 §5). */
export const username = () =>
  z.preprocess(plain, z.string().regex(/^[^:]+$/, "must have no colon, and must not be empty"));
/** What becomes one segment of a path. */
export const segment = () =>
  z.preprocess(plain, z.string().regex(/^(?!\.{1,2}$)[^/]+$/, "must be one segment of a path"));
/** Follows right behind a host, and so must not become a part of its name. */
export const path = (as = "") =>
  z.preprocess(plain, z.string().regex(/^\//, `must begin with a slash${as && `, ${as}`}`));
export const whole = (minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(
    (value) =>
      value instanceof FromEnvironment && /^\d+$/.test(value.text)
        ? Number(value.text)
        : plain(value),
    z.int().min(minimum).max(maximum),
  );
export const flag = () =>
  z.preprocess(
    (value) =>
      value instanceof FromEnvironment && /^(true|false)$/.test(value.text)
        ? value.text === "true"
        : plain(value),
    z.boolean(),
  );
/** In the environment separated by commas. */
export const list = () =>
  z.preprocess(
    (value) => (value instanceof FromEnvironment ? value.text.split(",").filter(Boolean) : value),
    z.array(z.string().min(1)),
  );

/** `{ env = "NAME" }` or `{ file = "path" }`; as an environment variable the secret itself. */
export const secret = () =>
  z.unknown().transform((value, context): Secret => {
    const refuse = (message: string) => {
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    };
    if (value instanceof FromEnvironment) return new Secret(value.text);
    const { env, file } = (value ?? {}) as { env?: unknown; file?: unknown };
    if (typeof env === "string") {
      const found = process.env[env];
      return found ? new Secret(found) : refuse(`the environment variable ${env} is not set`);
    }
    if (typeof file === "string") {
      if (!existsSync(file)) return refuse("the file does not exist");
      return new Secret(readFileSync(file, "utf8").trim());
    }
    return refuse(
      'must be { env = "NAME" } or { file = "path" }: secrets never stand in the file itself',
    );
  });

/** As `secret`; one of a file is read again each time that it is revealed, for what is renewed with other files. */
export const renewedSecret = () =>
  z.unknown().transform((value, context): Secret => {
    const parsed = secret().safeParse(value);
    if (!parsed.success) {
      for (const { message } of parsed.error.issues) context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    const { file } = (value ?? {}) as { file?: unknown };
    return typeof file === "string" ? new SecretOfFile(file) : parsed.data;
  });

class SecretOfFile extends Secret {
  readonly #path: string;

  constructor(path: string) {
    super("");
    this.#path = path;
  }

  override reveal(): string {
    return readFileSync(this.#path, "utf8").trim();
  }
}

/** `host:port` to listen on; a port alone is one of this machine only. */
export const endpoint = () =>
  z.preprocess(
    (value) => {
      const given = plain(value);
      return /^\d+$/.test(String(given)) ? `127.0.0.1:${String(given)}` : given;
    },
    z.string().regex(/^(\[[\da-f:.]+\]|[\w.-]+):\d{1,5}$/i, "must be host:port, or a port"),
  );
