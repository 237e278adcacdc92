// What the tests of both notification APIs share: each exchange of their fixtures, and what each of their callbacks must become.
import { describe, expect, test } from "vitest";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { parseCallback } from "../../../src/providers/evi-post/callback.js";
import { fill, fixturesOf, matches } from "../../harness/fixtures/fixtures.js";
import type { Fixture, Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { sendAnswer } from "../fixture-answer.js";
import { requestDifferences } from "../fixture-request.js";
import { refusingUrl, startProviderServer } from "../provider-server.js";

type Provider = "evi-post" | "evi-notice";
type Perform = (at: { baseUrl: string; timeoutMs: number }, fixture: Fixture) => Promise<unknown>;

/** The client sends what the fixture says, and makes of the answer what it says; `perform` is given its call with the values. */
export function testExchanges(provider: Provider, perform: Perform): void {
  describe("an exchange", () => {
    test.each(fixturesOf("client", provider, "call"))("%s", async (_, fixture) => {
      const values: Values = {};
      const { response, error, result, request } = fixture;
      const server = await startProviderServer((_request, answer) =>
        sendAnswer(answer, fill(response, values)),
      );
      try {
        const baseUrl = response.cut === "refused" ? await refusingUrl() : server.url;
        const timeoutMs = response.cut === "never" ? 300 : 5_000;
        const call = fill(fixture["call"], values);
        const answer = perform({ baseUrl, timeoutMs }, { ...fixture, call });
        const extra = fixture["resultExtra"] === true;
        if (error === undefined)
          expect(matches(result, (await answer) ?? null, { values, extra })).toEqual([]);
        else expect(matches(error, await errorOf(answer), { values, extra: true })).toEqual([]);
        // A letter without a document cannot be said in our types; its refusal can still be read.
        const { submission } = fixture["call"];
        const isUnsayable = provider === "evi-post" && submission && !("document" in submission);
        if (response.cut === "refused" || isUnsayable) return;
        expect(server.received).toHaveLength(1);
        expect(await requestDifferences(request, server.received[0]!, values)).toEqual([]);
      } finally {
        await server.close();
      }
    });
  });
}

type Parse = typeof parseCallback;

const failing = (parse: Parse, body: unknown) => errorOf(Promise.resolve().then(() => parse(body)));

export function testCallbacks(provider: Provider, parse: Parse): void {
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
