// `trustflow provider`: what a provider itself holds of an account (P2 §4.1–4.3). Nothing is stored or changed.
import type { Command } from "commander";
import { addCommand } from "../command.js";
import { addLetters } from "./letters.js";
import { addAffidavits, addAttachments, addNotices } from "./notices.js";

export function addProvider(program: Command): void {
  const provider = addCommand(program, "provider", {
    summary: "read what a provider itself holds of an account",
    example: "trustflow provider letters --lookup-key case-2026-0042",
    isGroup: true,
  });
  addLetters(provider);
  addNotices(provider);
  addAttachments(provider);
  addAffidavits(provider);
}
