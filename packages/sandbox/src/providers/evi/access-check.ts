// The checks of who may see the evidence (P2 §2.3, §2.6).
import type { Checker } from "../../exchange/checker.js";

export function checkAccessControl(options: Checker): void {
  const method = options.oneOf("EvidenceAccessControlMethod", [
    "Public",
    "Challenge",
    "AutoChallenge",
  ]);
  for (const name of ["EvidenceAccessControlChallenge", "EvidenceAccessControlChallengeResponse"]) {
    if (method === "Challenge") options.required(name, "is required with Challenge");
    else options.text(name);
  }
}
