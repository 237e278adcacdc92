// What the tests of both notification APIs share: what each of their callbacks must become or must not show.
import { describe, expect, test } from "vitest";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { parseCallback } from "../../../src/providers/evi-post/callback.js";
import { fill, fixturesOf, matches } from "../../harness/fixtures/fixtures.js";
import type { Values } from "../../harness/fixtures/fixtures.js";
import { CANARY, shown } from "../errors/leaks.js";
import { errorOf } from "../evi-post/account.js";

type Parse = typeof parseCallback;

const failing = (parse: Parse, body: unknown) => errorOf(Promise.resolve().then(() => parse(body)));

export function testCallbacks(provider: "evi-post" | "evi-notice", parse: Parse): void {
  describe("a callback", () => {
    test.each(fixturesOf("client", provider, "body"))("%s", async (_, fixture) => {
      const values: Values = {};
      const body = fill(fixture["body"], values);
      if (fixture["unreadable"] === true) {
        const error = await failing(parse, body);
        expect(error).toMatchObject({ kind: "protocol", effect: "none", operation: "callback" });
        return;
      }
      const { event, correlation } = parse(body);
      expect(matches(fixture["event"], event, { values })).toEqual([]);
      expect(correlation).toEqual(fixture["correlation"]);
      expect(ProviderEvent.parse(event)).toEqual(event);
    });
  });
}

export function testUnreadableCallbacks(parse: Parse): void {
  test("a callback that cannot be read leaks nothing", async () => {
    const bodies = [
      CANARY,
      [CANARY],
      { Identifier: CANARY, Kind: CANARY, Date: CANARY, [CANARY]: 1 },
    ];
    for (const body of bodies) expect(shown(await failing(parse, body))).toEqual([]);
  });
}
