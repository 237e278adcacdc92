// The account that the tests of the one-shot client use, and one call of each operation.
import { buffer } from "node:stream/consumers";
import * as client from "../../../src/providers/one-shot-signature/client.js";
import { inMemory } from "../memory-keep.js";
import type { OneShotSignatureAccount } from "../../../src/providers/one-shot-signature/client.js";
import { defaultAccount } from "../default-account.js";
import type { Say } from "../default-account.js";
import type { Operation } from "../../../src/providers/registry.js";

export function accountAt(
  baseUrl: string,
  changes: Partial<OneShotSignatureAccount> = {},
): OneShotSignatureAccount {
  return {
    ...defaultAccount("one-shot-signature", { baseUrl, token: "ra-operator" }),
    ...changes,
  };
}

export const pdf = { name: "a.pdf", bytes: Buffer.from("%PDF-1.4"), mediaType: "application/pdf" };

type Call = (account: OneShotSignatureAccount, requestPk: string) => Promise<unknown>;

export function callsWith(
  say: Say = (text) => text,
): Record<Operation<"one-shot-signature">, Call> {
  const file = { ...pdf, name: say(pdf.name), bytes: Buffer.from(say("%PDF-1.4")) };
  const fields = { [say("note")]: say("n") };
  return {
    listTokens: (account) => client.listTokens(account),
    createToken: (account) => client.createToken(account),
    create: (account, requestPk) => client.create(account, { reference: say(requestPk) }),
    uploadDocument: (account, requestPk) => client.uploadDocument(account, { requestPk, ...file }),
    uploadHash: (account, requestPk) =>
      client.uploadHash(account, { requestPk, name: file.name, sha256: say("ab".repeat(32)) }),
    contract: async (account, requestPk) => {
      const { file, mediaType } = await client.contract(account, requestPk, inMemory);
      return { bytes: await buffer(file.pieces()), mediaType };
    },
    otp: (account, requestPk) => client.otp(account, requestPk),
    sign: (account, requestPk) => client.sign(account, { requestPk, otp: say("482913") }),
    retrieve: (account, requestPk) => client.retrieve(account, requestPk),
    deleteDocuments: (account, requestPk) =>
      client.deleteDocuments(account, { requestPk, isRepetition: false }),
    createVideo: (account, requestPk) => client.createVideo(account, { requestPk, fields }),
    uploadEvidences: (account, requestPk) =>
      client.uploadEvidences(account, { requestPk, files: [file] }),
    uploadVideo: (account, requestPk) => client.uploadVideo(account, { requestPk, ...file }),
    approveVideo: (account, requestPk) => client.approveVideo(account, { requestPk }),
    cancelVideo: (account, requestPk) => client.cancelVideo(account, { requestPk }),
    getVideo: (account, requestPk) => client.getVideo(account, requestPk),
    updateVideo: (account, requestPk) => client.updateVideo(account, { requestPk, fields }),
  };
}

export const calls = callsWith();
