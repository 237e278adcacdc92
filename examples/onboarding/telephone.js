// The customer's telephone. In the sandbox no message leaves the machine: its control API shows what the providers sent.
import { env } from "node:process";

/** The newest code that this provider sent to this number. */
export async function readCode(provider, number) {
  const response = await fetch(`${env.TRUSTFLOW_SANDBOX__URL}/_sandbox/messages`);
  const { messages } = await response.json();
  const received = messages.filter((one) => one.provider === provider && one.to === number);
  return received.at(-1)?.otp;
}
