// Which role of the stack lives by a virtual clock, and how it gets it.
import type { RoleName } from "../stack/role.js";

const preloads: Partial<Record<RoleName, string>> = {
  receiver: "shift-date.js",
  worker: "virtual-worker.js",
};

export function clockEnv(name: RoleName, file: string | undefined): Record<string, string> {
  const preload = preloads[name];
  if (file === undefined || preload === undefined) return {};
  return {
    NODE_OPTIONS: `--import=${new URL(preload, import.meta.url).href}`,
    VIRTUAL_CLOCK_FILE: file,
  };
}
