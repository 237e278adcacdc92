// The role `codec-server`: lets the Web UI decode payloads (docs/design.md §8, §12).
import { required } from "../config/config.js";
import type { Config } from "../config/config.js";
import { Health } from "./health.js";
import { mayOnlyRead, readingRing } from "../config/payload-keys.js";
import { roleLogger } from "./role.js";
import type { RunningRole } from "./role.js";

export async function codecServer(config: Config): Promise<RunningRole> {
  const { startCodecServer } = await import("../temporal/codec/codec-server.js");
  const { host, port, token, corsOrigins } = config.codecServer;
  const health = new Health();
  const started = await startCodecServer({
    health: health.answer,
    ring: readingRing(config),
    isReadOnly: mayOnlyRead(config),
    host,
    port,
    token: required(token, "codecServer.token").reveal(),
    corsOrigins,
    logger: roleLogger("codec-server", config.log.level),
  });
  return { health, ...started };
}
