// PostgreSQL refuses to run as root, so for root it runs as the user `postgres` or `nobody`. It keeps only the right to
// traverse folders, so that a checkout under /root works and no user has to be created.
import { readFile } from "node:fs/promises";
import { findOnPath, run } from "../processes/tools.js";

export interface ServerCommand {
  command: string;
  args: string[];
  uid?: number;
  gid?: number;
  /** Whose the data must be; absent: ours. */
  owner?: { uid: number; gid: number };
}

export async function asServerUser(command: string, args: string[]): Promise<ServerCommand> {
  if (process.getuid?.() !== 0) return { command, args };
  const owner = await serverUser();
  const prefix = await withFolderRights(owner);
  if (prefix === undefined && process.platform === "linux")
    throw new Error(
      "root runs PostgreSQL with `setpriv` of util-linux, which is missing or not allowed here: install it, or run this as another user",
    );
  if (prefix === undefined) return { command, args, ...owner, owner };
  return { command: prefix[0], args: [...prefix.slice(1), command, ...args], owner };
}

async function serverUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const user =
    users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (!user) throw new Error("when root runs PostgreSQL, a user `postgres` or `nobody` must exist");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Undefined where there is no `setpriv`, or a container does not let it work. */
async function withFolderRights(user: {
  uid: number;
  gid: number;
}): Promise<[string, ...string[]] | undefined> {
  const setpriv = process.platform === "linux" ? await findOnPath("setpriv") : undefined;
  if (setpriv === undefined) return undefined;
  const only = "-all,+dac_override";
  const prefix: [string, ...string[]] = [
    setpriv,
    ...["--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"],
    // Without this bit access(2), which initdb asks, would not count the right.
    ...["--securebits", "+no_setuid_fixup"],
    ...["--inh-caps", only, "--ambient-caps", only, "--bounding-set", only, "--"],
  ];
  const { ok } = await run(prefix[0], [...prefix.slice(1), "true"], { timeoutMs: 5_000 });
  return ok ? prefix : undefined;
}
