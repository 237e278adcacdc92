// A batch of notices whose open activity goes on asking; the process itself knows the first read alone.
import { proxyActivities, upsertMemo } from "@temporalio/workflow";
import { statusMemo } from "../../src/contracts/shared/names.js";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";

const { followBatch } = proxyActivities<{ followBatch(): Promise<void> }>({
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: "12 seconds",
  retry: { initialInterval: "1 hour" },
});

export async function sendNoticeBatch(known: ProcessStatus): Promise<void> {
  upsertMemo({ [statusMemo]: known });
  await followBatch();
}
