// What the tests of one file share.
import { afterAll, beforeAll } from "vitest";

const LIMIT_MS = 120_000;

interface Closed {
  close?(): unknown;
  teardown?(): unknown;
}

/** Made before the first test of the file and closed after the last one; can be used as soon as tests run. */
export function ofFile<T extends object>(make: () => T | Promise<T>): T {
  let made: (T & Closed) | undefined;
  beforeAll(async () => {
    made = await make();
  }, LIMIT_MS);
  afterAll(async () => {
    await (made?.close ? made.close() : made?.teardown?.());
    made = undefined;
  }, LIMIT_MS);
  return new Proxy({} as T, {
    get(_, name) {
      const member: unknown = Reflect.get(made!, name);
      return typeof member === "function" ? member.bind(made) : member;
    },
    set: (_, name, member) => Reflect.set(made!, name, member),
  });
}
