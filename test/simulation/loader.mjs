// node --import ./test/simulation/loader.mjs …: TypeScript as it is, the product as it is built. An import() that runs is told to
// the world: it is answered by another thread, and no virtual time may pass meanwhile.
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

const DYNAMIC_IMPORT = /(?<![\w.])import\((["'][^"'\n]+["'])\)/g;

/** @type {import("node:module").LoadHook} */
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (loaded.format !== "module" || url.includes("/node_modules/")) return loaded;
  const source = Buffer.from(/** @type {Uint8Array} */ (loaded.source)).toString();
  const told = source.replace(
    DYNAMIC_IMPORT,
    '(globalThis.awaitedImport ?? ((_, load) => load()))(import.meta.url + " " + $1, () => import($1))',
  );
  return { ...loaded, source: told };
}

if (isMainThread) {
  register("../../scripts/typescript.mjs", import.meta.url);
  register(import.meta.url);
}
