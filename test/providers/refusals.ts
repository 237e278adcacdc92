// What a refusal means, as one table for each provider: by its status and the class of the operation. Both signature services are
// tested by the same code, because P1 §7.3 shows no error of theirs.
import { describe, expect, test } from "vitest";
import { errorOf } from "./evi-post/account.js";
import { answering, startProviderServer } from "./provider-server.js";
import type { Handler } from "./provider-server.js";

export const protocol = "protocol none";
export const refused = "invalidRequest none";
export const denied = "accessDenied none";
export const unknown = "unknownOutcome unknown";
export const away = "unavailable none";
export const limited = "rateLimited none";
export const lookUp = "unavailable unknown";
export const invisible = "notVisibleYet none";
export const success = "success";

/** Meets a server that answers so, and none afterwards. */
export async function meeting<T>(handler: Handler, call: (url: string) => Promise<T>): Promise<T> {
  const server = await startProviderServer(handler);
  try {
    return await call(server.url);
  } finally {
    await server.close();
  }
}

/** The error that a call ends with at a server that answers so. */
export const errorAt = (handler: Handler, call: (url: string) => Promise<unknown>) =>
  meeting(handler, (url) => errorOf(call(url)));

export const meaningOf = ({ kind, effect }: { kind: string; effect: string }) =>
  `${kind} ${effect}`;

interface Service<Operation extends string> {
  call(operation: Operation, url: string): Promise<unknown>;
  /** The service's error with this code and these words. */
  body(code: string, words: string): object;
  /** Operations that have the same meanings, column by column. */
  columns: readonly (readonly Operation[])[];
  /** Status, and its meaning in each column. */
  table: readonly (readonly [number, ...string[]])[];
  /** An operation whose 400 is a refusal. */
  refusing: Operation;
}

export function testRefusals<Operation extends string>(service: Service<Operation>): void {
  const { call, body, columns, table, refusing } = service;

  const answers = table.map(([status, ...meanings]) => ({ status, meanings }));
  describe.each(answers)("a $status is", ({ status, meanings }) => {
    const rows = columns.flatMap((operations, index) =>
      operations.map((operation) => [operation, meanings[index]] as const),
    );
    test.each(rows)("for %s: %s", async (operation, meaning) => {
      const handler = answering(body("E1", "words"), status, { "retry-after": "7" });
      const calling = (url: string) => call(operation, url);
      if (meaning === success) return expect(await meeting(handler, calling)).toBeUndefined();
      const error = await errorAt(handler, calling);
      expect(meaningOf(error)).toBe(meaning);
      expect(error).toMatchObject({ operation, status, code: "E1", retryAfterMs: 7000 });
      expect(error.detail).toBe("words");
    });
  });

  test.each([
    [{ code: 12, message: "no" }, "12", "no"],
    [{ error: "no" }, undefined, '{"error":"no"}'],
    ["<h1>No</h1>", undefined, "<h1>No</h1>"],
  ])("an error %j is read as far as it goes", async (answer, code, detail) => {
    const error = await errorAt(answering(answer, 400), (url) => call(refusing, url));
    expect(error.message).toMatch(/: answered 400( \(12\))?$/);
    expect([error.code, error.detail]).toEqual([code, detail]);
  });
}
