// The secrets of docker-compose.yml, each in a file of its own: `trustflow keys generate --secrets DIRECTORY`.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KeyRing } from "../../crypto/key-ring.js";
import { publicRingOf } from "../../crypto/sealed-box.js";
import { databaseRoles } from "../../postgres/roles.js";

/** Each of a purpose of its own; the public rings of `inbox` and `secrets` are made from them. */
export const rings = [
  "codec",
  "codec_write",
  "secrets",
  "callback",
  "journal",
  "inbox",
  "documents",
] as const;

const password = () => randomBytes(24).toString("base64url");

/**
 * Writes what is missing and keeps what is there; returns the names that it wrote. The folder is for its owner alone. A file in it
 * is readable, because each container runs under an id of its own and sees its own secrets only.
 */
export async function writeSecretFiles(directory: string, ring: () => string): Promise<string[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  // The secrets of accounts, which come from the providers.
  await mkdir(join(directory, "accounts"), { recursive: true });
  const databases = ["superuser", "owner", "temporal", ...databaseRoles];
  const written: string[] = [];
  const write = async (name: string, text: string): Promise<void> => {
    try {
      await writeFile(join(directory, name), `${text}\n`, { flag: "wx", mode: 0o444 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
      throw error;
    }
    // Whatever the umask says.
    await chmod(join(directory, name), 0o444);
    written.push(name);
  };
  for (const name of databases) await write(`database_${name}`, password());
  for (const name of rings) await write(`keys_${name}`, ring());
  for (const name of ["inbox", "secrets"]) {
    const text = await readFile(join(directory, `keys_${name}`), "utf8");
    await write(`keys_${name}_public`, publicRingOf(KeyRing.parse(text.trim())));
  }
  await write("codec_server_token", password());
  return written;
}
