// The messaging gateway as it travels (P1 §2.8, §4.3, §5.3). Payload and answer are not shown: both pass through as they are.
import { z } from "zod";

export const SEND_PATH = "/api/services/send";
export const API_KEY_HEADER = "x-api-key";

const Text = z.string().optional().catch(undefined);
/** P1 §2.8. */
export const ErrorAnswer = z.object({
  type: Text,
  code: z.int().transform(String).optional().catch(undefined),
  message: Text,
});
