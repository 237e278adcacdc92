// Rows as a relay has claimed them, without a database, and what reads them.
import { bodyContext, BodyOpener } from "../../../src/callbacks/inbox/rows.js";
import type { Claimed, ClaimedRow, UnaddressedRow } from "../../../src/callbacks/inbox/rows.js";
import { BoxSealer } from "../../../src/crypto/sealed-box.js";
import { bodyKeys, parsers, ring, sealRing, sources, subjectOf } from "../support.js";

const sealer = new BoxSealer(sealRing);

export const reader = { bodies: new BodyOpener(bodyKeys), ring, parsers, sources };

interface Body {
  Identifier: string;
  [name: string]: unknown;
}

/** Its id is its identifier. */
function claimed(body: Body): Claimed {
  const place = { address: "an address", identifier: body.Identifier };
  const sealedBody = sealer.seal(Buffer.from(JSON.stringify(body)), bodyContext(place));
  return {
    ...{ ...place, id: body.Identifier, provider: "test", sealedBody, size: sealedBody.length },
    ...{ attempts: 1, failures: 0, receivedAt: new Date() },
  };
}

export const rowOf = (body: Body, over: Partial<Claimed> = {}): ClaimedRow => ({
  ...{ ...claimed(body), ...subjectOf(), account: null },
  ...over,
});

export const unaddressed = (body: Body, over: Partial<Claimed> = {}): UnaddressedRow => ({
  ...{ ...claimed(body), provider: "test-account", account: "default" },
  ...over,
});

export const idsOf = (rows: Claimed[]): string => rows.map(({ id }) => id).join(" ");

/** As PostgreSQL refuses what a row holds. */
export const dataError = () => Object.assign(new Error("refused"), { code: "22021" });
