// `trustflow provider attachments`: the attachments that EviNotice has of a batch (P2 §2.10, §4.3).
import type { Command } from "commander";
import { documentStoreOf } from "../document-store.js";
import { writeJson, writeTable } from "../output/output.js";
import { addAccountCommand, answerOf, providerAccount, requireUuid } from "./call.js";
import type { AccountOptions } from "./call.js";
import { ofFile, savedAs } from "./saved.js";
import type { IdentifiedFile } from "./saved.js";

export function addAttachments(provider: Command): void {
  addAccountCommand(provider, "attachments <batch-id>", {
    summary: "list the attachments that EviNotice has of a batch",
    details: `The batch ID is the provider's: "trustflow status" shows it as batchId.
--out also fetches each file, to compare it with what was sent: the SHA-256 is that of the document in the batch's result. It needs
the document store.`,
    example:
      "trustflow provider attachments 0d5c2f0e-8b1f-4a53-8f0e-2f1c7f6f2c11 --out at-evinotice",
  })
    .option("--out <dir>", "save each attachment in this folder")
    .action(attachments);
}

async function attachments(
  batchId: string,
  { account: name, out, json }: AccountOptions & { out?: string },
): Promise<void> {
  requireUuid("batch-id", batchId);
  const { account, config } = providerAccount("evi-notice", name);
  const eviNotice = await import("../../providers/evi-notice/client.js");
  const listed = await answerOf(eviNotice.listBatchAttachments(account, { batchId }));
  const files = new Map<string, IdentifiedFile>();
  if (out !== undefined)
    for (const { id: attachmentId } of listed)
      await documentStoreOf(config).withSpool(async (spool) => {
        const file = await answerOf(
          eviNotice.downloadBatchAttachment(account, { batchId, attachmentId }, spool),
        );
        files.set(attachmentId, await savedAs(out, attachmentId, file.pieces()));
      });
  if (json) return writeJson(listed.map((one) => ({ ...one, ...ofFile(files.get(one.id)) })));
  const headings = ["ID", "NAME", "TYPE", "SIZE"];
  writeTable(
    out === undefined ? headings : [...headings, "FILE", "SHA-256"],
    listed.map(({ id, fileName, mimeType, size }) => {
      const file = files.get(id);
      return [id, fileName, mimeType, size?.toString(), file?.file, file?.sha256];
    }),
  );
}
