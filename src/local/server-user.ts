// PostgreSQL refuses to run as root. For root it runs as `postgres` or `nobody`, keeping only the right to walk through
// folders, so that a checkout under /root works and no user has to be made.
import { readFile } from "node:fs/promises";
import { onPath } from "./tools.js";

export interface Launch {
  command: string;
  args: string[];
  uid?: number;
  gid?: number;
  /** Whose the data must be; absent: ours. */
  owner?: { uid: number; gid: number };
}

export async function asServerUser(command: string, args: string[]): Promise<Launch> {
  if (process.getuid?.() !== 0) return { command, args };
  const owner = await serverUser();
  const setpriv = process.platform === "linux" ? await onPath("setpriv") : undefined;
  if (setpriv === undefined) return { command, args, ...owner, owner };
  const only = "-all,+dac_override";
  return {
    command: setpriv,
    args: [
      ...["--reuid", String(owner.uid), "--regid", String(owner.gid), "--clear-groups"],
      ...[
        "--inh-caps",
        only,
        "--ambient-caps",
        only,
        "--bounding-set",
        only,
        "--",
        command,
        ...args,
      ],
    ],
    owner,
  };
}

async function serverUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const user =
    users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (!user)
    throw new Error("PostgreSQL does not run as root, and there is no user `postgres` or `nobody`");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}
