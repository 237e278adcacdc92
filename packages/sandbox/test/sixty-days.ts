// Many items at once that take sixty days to their end.
import { startSandbox } from "../src/sandbox.js";
import { call, DAY, post } from "./caller.js";

/** `ran`: the steps of the items; `seconds`: the processor's. */
export async function sixtyDays(hundreds: number) {
  const sandbox = await startSandbox({ speed: "manual" });
  const before = process.cpuUsage();
  for (let round = 0; round < hundreds; round += 1) {
    await Promise.all(
      Array.from({ length: 100 }, () =>
        post(sandbox.url, { RecipientName: "sandbox:delivered-after-60-days" }),
      ),
    );
  }
  const { ran } = await sandbox.clock.advance(90 * DAY);
  const { body } = await call(sandbox.url, "/v1/EviPost/Query?OnState=Closed&Limit=1");
  const { user, system } = process.cpuUsage(before);
  await sandbox.close();
  return { ran, closed: Number(body.totalMatches), seconds: (user + system) / 1_000_000 };
}
