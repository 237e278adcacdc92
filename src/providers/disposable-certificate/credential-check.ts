// The call by which `trustflow doctor` proves the credentials: a check of an empty holder. 242 names the missing field once
// credentials, LRA and certificate are accepted (P1 §5.1, §7.1).
import { ProviderError } from "../errors/provider-error.js";
import type { DisposableCertificateAccount } from "./account.js";
import { checkData } from "./client.js";

export async function checkCredentials(
  account: DisposableCertificateAccount,
  timeoutMs: number,
): Promise<void> {
  try {
    await checkData({ ...account, timeoutMs }, { disposableHolder: {} });
  } catch (error) {
    if (!(error instanceof ProviderError && error.code === "242")) throw error;
  }
}
