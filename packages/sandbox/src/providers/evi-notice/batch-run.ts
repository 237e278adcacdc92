// How a batch goes on by the clock: submitted, perhaps scheduled, processed in portions, each recipient's notice made (P2 §3.3,
// §3.4).
import type { SandboxParts } from "../../engine/parts.js";
import type { Account } from "../../engine/accounts.js";
import { magicKey } from "../../exchange/magic.js";
import { templateOf, utc } from "./batch-settings.js";
import { batchIntent, type Batch, type Batches } from "./batch.js";
import { impossibleEnding } from "./lifecycle.js";
import { readNoticeMagic, type NewNotice, type NoticeService } from "./notice-service.js";
import type { Recipient } from "./recipient-list.js";
import { lookupKeysOf } from "./submission.js";

const START_DELAY_MS = 60_000;
const PORTION = 1000;
const PORTION_DELAY_MS = 1000;

/** What a batch does by its `CostCentre`, as its recipients have words of their own. */
export const batchWords = ["sandbox:invalid", "sandbox:failed"];

export class BatchRun {
  readonly #parts: SandboxParts;
  readonly #batches: Batches;
  readonly #service: NoticeService;

  constructor(parts: SandboxParts, batches: Batches, service: NoticeService) {
    this.#parts = parts;
    this.#batches = batches;
    this.#service = service;
    parts.clock.on("evi-notice.batch", ({ id }: { id: string }, at) => {
      const batch = batches.get(id);
      if (batch) this.#goOn(batch, at);
    });
  }

  /** Why it is not ready; undefined where it is. */
  notReady(batch: Batch, at: number): string | undefined {
    if (batch.state !== "Draft") return `the batch is ${batch.state}`;
    if (!templateOf(batch.settings).subject) return "Subject is not set";
    if (batch.bodySha256 === undefined) return "the body is not set";
    if ((batch.bodyReadyAt ?? 0) > at) return "the body is still queued";
    return this.#batches.sizeOf(batch) === 0 ? "there are no recipients" : undefined;
  }

  start(batch: Batch, account: Account, at: number): void {
    this.#parts.ledger.record({
      operation: "evi-notice.startBatch",
      intent: batchIntent(batch.description),
      itemId: batch.id,
      at,
      account: account.username,
    });
    const date = batch.settings["ScheduledDate"];
    const due = typeof date === "string" ? Date.parse(utc(date)) : at;
    this.#enter(batch, due > at ? "Scheduled" : "Submitted", at);
    this.#schedule(batch, Math.max(due, at + START_DELAY_MS));
  }

  #goOn(batch: Batch, at: number): void {
    const magic = batch.settings["CostCentre"];
    if (batch.state === "Submitted" || batch.state === "Scheduled") {
      if (magic === "sandbox:invalid") return this.#enter(batch, "Invalid", at);
      batch.startedAt = at;
      this.#enter(batch, "Processing", at);
    } else if (batch.state === "Processing") {
      const size = this.#batches.sizeOf(batch);
      const portion = magic === "sandbox:failed" ? Math.ceil(size / 2) : PORTION;
      this.#make(batch, portion, at);
      if (magic === "sandbox:failed") return this.#enter(batch, "Failed", at);
      if (batch.noticeIds.length === size) return this.#enter(batch, "Processed", at);
    } else return;
    this.#schedule(batch, at + PORTION_DELAY_MS);
  }

  #make(batch: Batch, most: number, at: number): void {
    const account = this.#parts.accounts.get(batch.account);
    const template = templateOf(batch.settings);
    let first = 0;
    let left = most;
    for (const list of this.#batches.listsOf(batch)) {
      for (; left > 0 && batch.noticeIds.length < first + list.size; left -= 1) {
        const recipient = list.at(batch.noticeIds.length - first);
        const id = account && this.#notice(batch, template, recipient, account, at);
        batch.noticeIds.push(id ?? "");
        if (id === undefined) batch.failed += 1;
        else batch.sent += 1;
      }
      first += list.size;
    }
    batch.updatedAt = at;
    this.#parts.changed();
  }

  /** Undefined where the account cannot pay it, or the recipient's magic words cannot be. */
  #notice(
    batch: Batch,
    { subject = "", ...template }: ReturnType<typeof templateOf>,
    { address, columns }: Recipient,
    account: Account,
    at: number,
  ): string | undefined {
    const displayName = columns["displayname"];
    const magic = readNoticeMagic(displayName);
    const given = { ...template, ending: magic?.ending, modifiers: magic?.modifiers ?? [] };
    if ((magic && magic.unknown.length > 0) || impossibleEnding(given) !== undefined)
      return undefined;
    if (account.balance !== undefined) {
      const balance = this.#parts.accounts.get(account.username)?.balance ?? 0;
      if (balance < 1) return undefined;
      this.#parts.accounts.change(account.username, { balance: balance - 1 });
    }
    const lookupKeys = lookupKeysOf(columns["lookupkey"]);
    const notice: NewNotice = {
      ...template,
      subject,
      displayName,
      lookupKeys,
      intent: batchIntent(batch.description),
      to: address,
      bodySha256: batch.bodySha256 ?? "",
      attachments: batch.attachments,
      batchId: batch.id,
    };
    const key = magic && magicKey("evi-notice", batch.id, address);
    if (key !== undefined) this.#parts.faults.learn(key, magic?.faults ?? []);
    const origin = { account, at, magic, magicKey: key, faults: [] };
    const item = this.#service.accept(notice, origin);
    this.#parts.ledger.record({
      operation: "evi-notice.batchNotice",
      intent: batchIntent(batch.description),
      itemId: item.id,
      at,
      account: account.username,
      part: lookupKeys[0] ?? address,
    });
    return item.id;
  }

  #enter(batch: Batch, state: Batch["state"], at: number): void {
    Object.assign(batch, { state, updatedAt: at });
    this.#parts.changed();
  }

  #schedule({ id }: Batch, at: number): void {
    this.#parts.clock.schedule(at, "evi-notice.batch", { id });
  }
}
