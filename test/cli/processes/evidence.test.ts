// What `evidence --out` saves, what it calls its files, and what its manifest says.
import { readdir, readFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { Trustflow } from "../../../src/client.js";
import { DocumentNotFoundError } from "../../../src/errors/index.js";
import { referencesIn, saved, fileNames } from "../../../src/cli/processes/evidence.js";
import type { Evidence } from "../../../src/cli/processes/evidence.js";
import { temporaryFolder } from "../../harness/temporary.js";

const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");
/** Its content is its text. */
const reference = (text: string, mediaType = "application/pdf") => {
  const sha256 = sha256Of(text);
  return { uri: `document:${sha256.slice(0, 32)}`, sha256, size: text.length, mediaType };
};
const evidence = (kind: string, description?: string, more: Partial<Evidence> = {}): Evidence => ({
  ...{ process: "sendNotice/order-7", kind, time: "2026-11-23T23:59:00.000Z" },
  ...{ document: reference("%PDF-1.4"), description },
  ...more,
});

test.each([
  [evidence("affidavit", "Affidavit Read"), "2026-11-23-read-affidavit"],
  [evidence("affidavit", "Affidavit of closure"), "2026-11-23-closure-affidavit"],
  [evidence("affidavit"), "2026-11-23-affidavit"],
  [evidence("affidavit", "affidavit"), "2026-11-23-affidavit"],
  [evidence("signed", "Contrato nº 7 – José.pdf"), "2026-11-23-contrato-no-7-jose-signed"],
  [evidence("signed", "signedness"), "2026-11-23-signedness-signed"],
  [evidence("submitted", "../../etc/CON: a\u0000|b?.html"), "2026-11-23-etc-con-a-b-submitted"],
  [evidence("affidavit", "證明"), "2026-11-23-affidavit"],
  [evidence("affidavit", "x".repeat(300)), `2026-11-23-${"x".repeat(60)}-affidavit`],
  [evidence("submitted", undefined, { part: "post" }), "2026-11-23-post-submitted"],
  [evidence("report.csv"), "2026-11-23-report"],
  [evidence("report.jsonLines"), "2026-11-23-report-json-lines"],
])("the file of a document has its date, what it is, and its kind: %j", (one, name) => {
  expect(fileNames([one])).toEqual([name]);
});

test("names that are alike, also but for their case, get a number", () => {
  const all = ["Read", "read", "READ", "read 2"].map((state) => evidence("affidavit", state));
  const twice = [evidence("a"), evidence("a-2"), evidence("a")];
  expect([fileNames(all), fileNames(twice)].flat().map((name) => name.slice(11))).toEqual([
    "read-affidavit",
    "read-affidavit-2",
    "read-affidavit-3",
    "read-2-affidavit",
    ...["a", "a-2", "a-3"],
  ]);
});

test("a result's documents beside its list are found, whatever members name them", () => {
  const [csv, archive] = [reference("a", "text/csv"), reference("b", "application/zip")];
  const result = { outcome: "closed", report: { csv }, archive, documents: [{ document: csv }] };
  expect([...referencesIn(result)]).toEqual([
    ["report.csv", csv],
    ["archive", archive],
  ]);
});

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

/** Has these texts, by the URI of their references. */
const storeOf = (...texts: string[]) => {
  const kept = new Map(texts.map((text) => [reference(text).uri, text]));
  return {
    async *openRead({ uri }: { uri: string }) {
      const text = kept.get(uri);
      if (text === undefined) throw new DocumentNotFoundError(uri);
      yield Buffer.from(text);
    },
  } as unknown as Trustflow["documents"];
};
const facts = { id: "sendNotice/order-7", run: "r-1", state: "RUNNING" };
const manifest = async () => JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));

test("the manifest says of each file what it is; a document that the store has no longer is missing in both", async () => {
  const page = evidence("submitted", "offer.html", { document: reference("<p>", "text/html") });
  const read = evidence("affidavit", "Read", { uniqueId: "a-1" });
  const gone = evidence("affidavit", "Sent", { document: reference("gone") });
  const found = await saved(storeOf("<p>", "%PDF-1.4"), folder, [facts], [page, gone, read]);
  expect(await manifest()).toEqual(JSON.parse(JSON.stringify(found)));
  const { process, time } = read;
  expect(await manifest()).toEqual({
    processes: [facts],
    files: [
      {
        ...{ name: "2026-11-23-offer-submitted.html", process, kind: "submitted", time },
        ...{ description: "offer.html", bytes: 3, sha256: sha256Of("<p>") },
      },
      {
        ...{ name: "2026-11-23-read-affidavit.pdf", process, kind: "affidavit", time },
        ...{ description: "Read", providerId: "a-1", bytes: 8, sha256: sha256Of("%PDF-1.4") },
      },
    ],
    missing: [
      {
        ...{ process, kind: "affidavit", description: "Sent", time },
        ...{ bytes: 4, sha256: sha256Of("gone") },
      },
    ],
  });
  expect(await readdir(folder)).toHaveLength(3);
});

test("what comes later is added, and nothing is overwritten", async () => {
  const first = evidence("affidavit", "Sent", { document: reference("one") });
  const later = evidence("affidavit", "Sent", { document: reference("two") });
  const store = storeOf("one", "two");
  await saved(store, folder, [facts], [first]);
  const before = await manifest();
  const { files } = await saved(store, folder, [facts], [first, later]);
  expect(files.map(({ name }) => name.slice(11))).toEqual([
    "sent-affidavit.bin",
    "sent-affidavit-2.bin",
  ]);
  expect(await manifest()).toEqual(before);
  const all = await readdir(folder);
  expect(all).toHaveLength(4);
  await saved(store, folder, [facts], [first, later]);
  expect(await readdir(folder)).toEqual(all);

  const other = evidence("affidavit", "Sent", { document: reference("two") });
  await expect(saved(store, folder, [facts], [other])).rejects.toThrow("exists already");
});
