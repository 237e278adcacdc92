// The checks that the submissions of both services share (P2 §2.3, §2.6, §6.1, §6.2).
import type { Checker } from "../../exchange/checker.js";

/** Who may see the evidence. */
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

export interface CallbackSettings {
  url: string;
  filter: string[];
  extraData?: string;
}

/** P2 §6.1: without a filter no callback is sent. */
export function checkCallback(
  options: Checker,
  filterValues: readonly string[],
): CallbackSettings | undefined {
  const url = options.text("PushNotificationUrl");
  if (url !== undefined && !/^https?:\/\//i.test(url)) {
    options.fail("PushNotificationUrl", "InvalidUrl", "must be an http or https URL");
  }
  const filter = options.list("PushNotificationFilter") ?? [];
  const wrong = filter.filter((value) => !(filterValues as readonly unknown[]).includes(value));
  if (wrong.length > 0) {
    options.fail(
      "PushNotificationFilter",
      "InvalidValue",
      `may hold ${filterValues.join(", ")} only`,
    );
  }
  if (url === undefined || filter.length === 0 || wrong.length > 0) return undefined;
  const extraData = options.text("PushNotificationExtraData");
  return { url, filter: filter as string[], ...(extraData !== undefined && { extraData }) };
}
