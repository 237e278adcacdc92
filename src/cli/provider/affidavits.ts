// `trustflow provider affidavits`: the affidavits that EviNotice has of a notice, also of one of a batch (P2 §2.7, §4.2).
import type { Command } from "commander";
import { documentStoreOf } from "../document-store.js";
import { writeJson, writeTable } from "../output/output.js";
import { addAccountCommand, answerOf, providerAccount, requireUuid } from "./call.js";
import type { AccountOptions } from "./call.js";
import { savedAs } from "./saved.js";
import type { IdentifiedFile } from "./saved.js";

export function addAffidavits(provider: Command): void {
  addAccountCommand(provider, "affidavits <notice>", {
    summary: "list the affidavits that EviNotice has of a notice, of a batch too",
    details: `The notice is its id at the provider: "trustflow status" shows it as uniqueId, "trustflow recipients" that of each recipient.
--out also fetches the PDFs, from one ZIP. It needs the document store.`,
    example: "trustflow provider affidavits 0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11 --out evidence",
  })
    .option("--out <dir>", "save each affidavit in this folder")
    .action(affidavits);
}

async function affidavits(
  id: string,
  { account: name, out, json }: AccountOptions & { out?: string },
): Promise<void> {
  requireUuid("notice", id);
  const { account, config } = providerAccount("evi-notice", name);
  const eviNotice = await import("../../providers/evi-notice/client.js");
  const { affidavits: listed = [] } = await answerOf(
    eviNotice.get(account, { id, includeAffidavits: true }),
  );
  const files: IdentifiedFile[] = [];
  if (out !== undefined)
    await documentStoreOf(config).withSpool(async (spool) => {
      const affidavitIds = listed.map((one) => one.id);
      const found = await answerOf(
        eviNotice.downloadAffidavits(account, { id, affidavitIds }, spool),
      );
      for (const file of found)
        files.push(await savedAs(out, file.id ?? file.fileName, file.pieces()));
    });
  if (json) return writeJson({ affidavits: listed, ...(out !== undefined && { files }) });
  writeTable(
    ["ID", "KIND", "DATE", "DESCRIPTION"],
    listed.map(({ id: affidavit, kind, date, description }) => [
      affidavit,
      kind,
      date,
      description,
    ]),
  );
  if (files.length > 0)
    writeTable(
      ["FILE", "SHA-256"],
      files.map(({ file, sha256 }) => [file, sha256]),
    );
}
