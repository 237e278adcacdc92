// The search that the canaries are looked for with, on its own.
import { expect, test } from "vitest";
import { z } from "zod";
import { contracts } from "../../src/contracts/index.js";
import { Canaries, found, Needles } from "../harness/histories/canaries.js";
import { allPaths } from "../harness/histories/paths.js";

const text = "qwertyuiopasdf";
const around = ["", "x", "xy", "xyz"].map((before) => Buffer.from(`${before}${text}${before}`));

test("a text is found in clear and in each encoding, whatever stands before it", () => {
  for (const bytes of around) {
    const hex = bytes.toString("hex");
    const written: [string, Buffer | string][] = [
      ["clear", bytes],
      ["hex", hex],
      ["hex", hex.toUpperCase()],
      ["base64", bytes.toString("base64")],
      ["base64", bytes.toString("base64url")],
      ["URL", hex.replaceAll(/../g, "%$&")],
      ["UTF-16", Buffer.from(bytes.toString(), "utf16le")],
    ];
    for (const [name, form] of written) expect(found(text, Buffer.from(form))).toEqual([name]);
  }
  expect(found(text, Buffer.from(text.slice(1)))).toEqual([]);
});

test("in one pass each of many texts is found, also where they overlap", () => {
  const texts = [text, text.slice(1), text.slice(0, 5), "never there"];
  const needles = new Needles(texts.map((one): [string, Buffer] => [one, Buffer.from(one)]));
  for (const bytes of around) {
    const at = bytes.indexOf(text);
    expect([...needles.in(bytes)]).toEqual([
      [text, at],
      [text.slice(0, 5), at],
      [text.slice(1), at + 1],
    ]);
  }
});

test("a text that an input leaves out gets a canary too", () => {
  const canaries = new Canaries();
  const schema = z.object({
    of: z.array(z.object({ given: z.string(), left: z.string().optional() })),
  });
  const { of } = canaries.write(schema, { of: [{ given: "a" }] }, []);
  expect(of).toEqual([{ given: canaries.words("of[].given"), left: canaries.words("of[].left") }]);
});

/** Members that are a word of a list, or that nobody chooses freely. */
const fixed = new Set([
  ...["affidavitKinds[]", "certificationLevel", "evidenceAccessControlMethod", "country"],
  ...["documentIssuerCountry", "identificationCountry", "fileName", "idConference", "otpType"],
  ...["sha256", "variant"],
]);

const inputs = allPaths.flatMap((of) =>
  Object.entries(of.inputs).map(([name, input]) => [`${of.process} ${name}`, of, input] as const),
);

test.each(inputs)("%s: a good input with a canary in every text that is free", (_, of, input) => {
  const canaries = new Canaries();
  const writing = { author: canaries, intent: canaries.intent("one") };
  const { input: schema } = contracts[of.process];
  const written = canaries.write(schema, input(writing), of.kept);
  expect(schema.safeParse(written).error).toBeUndefined();
  const secrets = [...canaries.secrets.values()].flatMap((values) => [...values]);
  const known = [...canaries.all.values(), ...secrets];
  const hasOne = (text: string) => known.some((canary) => text.includes(canary));
  const without = [...textsOf(written)].filter(
    ([path, text]) =>
      !hasOne(text) &&
      !hasOne(Buffer.from(text, "base64").toString()) &&
      !text.startsWith("sandbox:") &&
      !fixed.has(path.split(".").at(-1)!) &&
      !of.kept.includes(path),
  );
  expect(without).toEqual([]);
});

function* textsOf(value: unknown, path = ""): Iterable<[path: string, text: string]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item, `${path}[]`);
  else if (typeof value === "object" && value !== null)
    for (const [name, part] of Object.entries(value))
      yield* textsOf(part, path === "" ? name : `${path}.${name}`);
}
