// Settings of the Temporal dev server in a file, because every user of the machine can read its argument list.
import { rm, writeFile } from "node:fs/promises";

const NAME = "trustflow";

/** The arguments that make the server read a file of settings. */
export const settingsArguments = (file: string) => ["--env-file", file, "--env", NAME];

/** Options by their names, without the dashes, are there while the server starts, which is when it reads them. */
export async function withSettings<T>(
  file: string,
  options: Record<string, string>,
  start: () => Promise<T>,
): Promise<T> {
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ env: { [NAME]: options } }), { mode: 0o600 });
  try {
    return await start();
  } finally {
    await rm(file, { force: true });
  }
}
