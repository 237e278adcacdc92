// Writes the secrets of docker-compose.yml, each into its own file: `trustflow keys generate --secrets DIRECTORY`.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KeyRing, ringNames } from "../../crypto/key-ring.js";
import { publicRingOf } from "../../crypto/sealed-box.js";
import { databaseRoles } from "../../postgres/roles.js";
import { cannotWrite } from "../files.js";

/** As their files are named; the public rings of `inbox` and `secrets` are derived from them. */
export const rings = ringNames.map((name) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

const password = () => randomBytes(24).toString("base64url");

/** Caddy reads it, and starts without a login too. A person adds lines, so its owner may write it. */
const webUiUsers = `# Who may open the Web UI: a name and what "caddy hash-password" prints, one line for each person.
# Without a line nobody may.`;

/**
 * Writes missing files, keeps existing ones, and returns the names of the written files. Only the owner can enter the folder.
 * The files themselves are readable, because each container runs under its own user id and mounts only its own secrets.
 */
export async function writeSecretFiles(directory: string, ring: () => string): Promise<string[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch(
    cannotWrite(directory, "--secrets"),
  );
  await chmod(directory, 0o700);
  // The providers issue the secrets of the accounts.
  await mkdir(join(directory, "accounts"), { recursive: true });
  const databases = ["superuser", "owner", "temporal", ...databaseRoles];
  const written: string[] = [];
  const write = async (name: string, text: string): Promise<void> => {
    try {
      await writeFile(join(directory, name), `${text}\n`, { flag: "wx", mode: 0o644 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
      throw error;
    }
    // Independent of the umask.
    await chmod(join(directory, name), 0o644);
    written.push(name);
  };
  for (const name of databases) await write(`database_${name}`, password());
  for (const name of rings) await write(`keys_${name}`, ring());
  for (const name of ["inbox", "secrets"]) {
    const text = await readFile(join(directory, `keys_${name}`), "utf8");
    await write(`keys_${name}_public`, publicRingOf(KeyRing.parse(text.trim())));
  }
  await write("codec_server_token", password());
  await write("web_ui_users", webUiUsers);
  return written;
}
