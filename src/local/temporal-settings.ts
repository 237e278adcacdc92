// What the Temporal dev server is told in a file, because everybody on the machine may read its argument list.
import { writeFile } from "node:fs/promises";

const NAME = "trustflow";

/** Options by their names, without the dashes; the arguments that make the server read them. */
export async function settingsFile(
  file: string,
  options: Record<string, string>,
): Promise<string[]> {
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ env: { [NAME]: options } }), { mode: 0o600 });
  return ["--env-file", file, "--env", NAME];
}
