// What a callback is answered, without HTTP and without a database (docs/decisions/0020).
import { expect, test, vi } from "vitest";
import { callbackUrl } from "../../../src/callbacks/address.js";
import { Admission } from "../../../src/callbacks/receiver/admission.js";
import type {
  AdmissionLimits,
  Admitted,
  Arrival,
} from "../../../src/callbacks/receiver/admission.js";
import { ring, subjectOf } from "../support.js";

const DAY_MS = 86_400_000;
const limits = { addressDays: 10, maxAccountBodyBytes: 20, queueLimit: 20, readLimit: 20 };

const admissionOf = (over: Partial<AdmissionLimits> = {}) =>
  new Admission(ring, { ...limits, ...over });
const segmentOf = (given?: Parameters<typeof callbackUrl>[3], subject = subjectOf()) =>
  callbackUrl(ring, "", subject, given).split("/").at(-1) ?? "";

function admittedOf<T>(found: Admitted<T> | string): Admitted<T> {
  if (typeof found === "string") throw new Error(found);
  return found;
}

function arrivalOf(admission: Admission, segment: string, body: unknown): Arrival {
  const { admitted: address, leave } = admittedOf(admission.byAddress(segment));
  leave();
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const found = admittedOf(admission.byBody(address, Buffer.from(text)));
  found.leave();
  return found.admitted;
}

test("an address is taken until its life is over, by its own date; a forged one never", () => {
  const aged = (days: number, addressDays = limits.addressDays) =>
    admissionOf({ addressDays }).byAddress(
      segmentOf({ issuedAt: new Date(Date.now() - days * DAY_MS) }),
    );
  expect(aged(10)).toHaveProperty("admitted");
  expect(aged(100, 100)).toHaveProperty("admitted");
  expect(aged(41)).toBe("expired");
  const genuine = segmentOf();
  for (const forged of ["", "x", genuine.slice(0, -1), `${genuine}0`])
    expect(admissionOf().byAddress(forged)).toBe("forged");
});

test("an address that the database has refused is refused before its next body is read, and no other", () => {
  const admission = admissionOf();
  const [full, other] = [segmentOf(), segmentOf()];
  const arrival = arrivalOf(admission, full, {});
  expect(admission.byStoreResult(arrival, "duplicate")).toBe("duplicate");
  expect(admission.byStoreResult(arrival, "stored")).toBe("accepted");
  expect(admission.byAddress(full)).toHaveProperty("admitted");
  expect(admission.byStoreResult(arrival, "full")).toBe("full");
  expect(admission.byAddress(full)).toBe("full");
  expect(admission.byAddress(other)).toHaveProperty("admitted");
});

test("it is refused for a minute, and while fewer than 10,000 others were refused since", () => {
  const began = performance.now();
  const now = vi.spyOn(performance, "now").mockReturnValue(began);
  const admission = admissionOf();
  const segment = segmentOf();
  const arrival = arrivalOf(admission, segment, {});
  admission.byStoreResult(arrival, "full");
  now.mockReturnValue(began + 59_999);
  expect(admission.byAddress(segment)).toBe("full");
  now.mockReturnValue(began + 60_001);
  expect(admission.byAddress(segment)).toHaveProperty("admitted");
  admission.byStoreResult(arrival, "full");
  for (let other = 1; other <= 10_000; other += 1) {
    expect(admission.byAddress(segment)).toBe("full");
    admission.byStoreResult({ ...arrival, address: `${other}` }, "full");
  }
  expect(admission.byAddress(segment)).toHaveProperty("admitted");
  now.mockRestore();
});

test("without a usable Identifier the body is the identity", () => {
  const admission = admissionOf();
  const segment = segmentOf();
  expect(arrivalOf(admission, segment, { Identifier: "e 1" }).identifier).toBe("e 1");
  // A byte order mark is no reason to refuse JSON, and the body is kept with it.
  const marked = arrivalOf(admission, segment, '\uFEFF{"Identifier":"bom"}');
  expect([marked.identifier, marked.body.length]).toEqual(["bom", 23]);
  const bodies: unknown[] = [{ a: 1 }, { a: 2 }, [1], 5, null, '"text"', { Identifier: 7 }];
  const long = { Identifier: "x".repeat(5_000) };
  bodies.push({ Identifier: "" }, long, { Identifier: "nul\u0000" }, { Identifier: "é" });
  bodies.push({ Identifier: "", a: 1 });
  const identifiers = bodies.map((body) => arrivalOf(admission, segment, body).identifier);
  for (const identifier of identifiers) expect(identifier).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(new Set(identifiers).size).toBe(bodies.length);
  expect(arrivalOf(admission, segment, { a: 1 }).identifier).toBe(identifiers[0]);
  expect(arrivalOf(admission, segment, { ...long, b: 1 }).identifier).toBe(identifiers[8]);
});

test("at an account's address the whole body is the identity: an Identifier may name what the event is about", () => {
  const admission = admissionOf({ maxAccountBodyBytes: 100 });
  const subject = { provider: "one-shot-signature", account: "default" };
  const segment = segmentOf(undefined, subject as never);
  const of = (event: string) =>
    arrivalOf(admission, segment, { Identifier: "request-1", event }).identifier;
  expect(of("otp")).toBe(of("otp"));
  expect(of("otp")).not.toBe(of("signed"));
});

test.each([
  [
    "bodies that are being read",
    5,
    (admission: Admission, segment: string) => admission.byAddress(segment),
  ],
  [
    "callbacks that wait for their commit",
    10,
    (admission: Admission, segment: string) => {
      const { admitted, leave } = admittedOf(admission.byAddress(segment));
      leave();
      return admission.byBody(admitted, Buffer.from("{}"));
    },
  ],
])(
  "of the places of %s one address takes %i of 20, a batch's nine tenths, and others find one",
  (_, most, enter) => {
    const admission = admissionOf();
    const [flood, batch, other] = [segmentOf(), segmentOf({ rows: 40 }), segmentOf()];
    const taken = Array.from({ length: most }, () => admittedOf(enter(admission, flood)));
    expect(enter(admission, flood)).toBe("overloaded");
    const before = admission.inFlight;
    const another = admittedOf(enter(admission, other));
    expect(admission.inFlight).toBe(before + 1);
    another.leave();
    // Read to its end, and then closed.
    taken[0]?.leave();
    taken[0]?.leave();
    taken.push(admittedOf(enter(admission, flood)));
    expect(enter(admission, flood)).toBe("overloaded");
    for (const { leave } of taken) leave();
    expect(admission.inFlight).toBe(0);
    for (let place = 1; place <= 18; place += 1) admittedOf(enter(admission, batch));
    expect(enter(admission, batch)).toBe("overloaded");
    expect(admission.isFull).toBe(false);
    for (let place = 19; place <= 20; place += 1) admittedOf(enter(admission, other));
    expect(admission.isFull).toBe(true);
    expect(enter(admission, other)).toBe("overloaded");
  },
);

test("an account's body is small, and one that is no JSON is refused; a full queue comes before both", () => {
  const account = { provider: "test-account", account: "default" };
  const segment = callbackUrl(ring, "", account).split("/").at(-1) ?? "";
  const admission = admissionOf({ queueLimit: 1 });
  const [own, process] = [segment, segmentOf()].map((one) => admittedOf(admission.byAddress(one)));
  const answer = (address: typeof own, body: string | null) =>
    address && admission.byBody(address.admitted, body === null ? null : Buffer.from(body));
  const large = JSON.stringify("x".repeat(19));
  const most = answer(own, JSON.stringify("x".repeat(18)));
  admittedOf(most as Admitted<Arrival>).leave();
  expect(answer(own, large)).toBe("tooLarge");
  for (const body of [null, "", "{", "a=b", "\u0000"])
    expect(answer(process, body)).toBe("notJson");
  expect(answer(process, large)).toHaveProperty("admitted");
  expect(answer(own, large)).toBe("overloaded");
  expect(answer(process, "{")).toBe("overloaded");
});
