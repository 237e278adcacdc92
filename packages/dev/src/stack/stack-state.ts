// What a local stack keeps between two runs: keys, passwords and ports, in one file that only its owner may read.
import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "trustflow/internal/config/errors.js";
import { generateKeyRing, ringNames } from "trustflow/internal/crypto/key-ring.js";
import { freePorts, isFreePort } from "../processes/free-ports.js";
import { settingOf } from "./own-configuration.js";
import { openPrivateFolder } from "./private-folder.js";
import type { Progress } from "../processes/tools.js";

export const portNames = [
  "temporal",
  "temporalUi",
  "postgres",
  "receiver",
  "codecServer",
  "sandbox",
  "sandboxTls",
  "workerHealth",
  "relayHealth",
] as const;
export type PortName = (typeof portNames)[number];

export interface StackState {
  keys: Record<(typeof ringNames)[number], string>;
  codecToken: string;
  ports: Record<PortName, number>;
  /** What the accounts of its processes are. */
  setting: string;
}

/** A ring for each purpose. */
export const newKeys = () =>
  Object.fromEntries(ringNames.map((name) => [name, generateKeyRing()])) as StackState["keys"];

/** Links and callback addresses stay valid after a restart, unless another program took a port in the meantime. */
export async function openState(
  directory: string,
  progress: Progress,
  setting = settingOf(undefined),
): Promise<StackState> {
  await openPrivateFolder(directory, progress);
  const file = join(directory, "stack.json");
  const kept = await read(file);
  if (kept) refuseOtherSetting(directory, kept, setting);
  const state: StackState = {
    setting,
    keys: { ...newKeys(), ...kept?.keys },
    codecToken: kept?.codecToken ?? randomBytes(24).toString("hex"),
    ports: await choosePorts(kept?.ports, progress),
  };
  await writeFile(`${file}.new`, JSON.stringify(state, undefined, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return state;
}

/** Its keys cannot be made anew: what is in the database and in histories is encrypted with them. */
async function read(file: string): Promise<StackState | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as StackState;
  } catch (error) {
    const { code = "no JSON" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new ConfigurationError([
      `${file} has the keys of this system, and cannot be read (${code}): give it back, or delete the whole folder`,
    ]);
  }
}

/** Else open processes would go on at another provider than the one that they began at. */
export function refuseOtherSetting(directory: string, kept: StackState, setting: string): void {
  const { setting: before } = kept;
  if (before === setting) return;
  throw new ConfigurationError([
    `the processes in ${directory} have ${before}, but trustflow.toml has ${setting}: use another folder (--directory), or delete the state (--reset)`,
  ]);
}

async function choosePorts(
  kept: Partial<StackState["ports"]> | undefined,
  progress: Progress,
): Promise<StackState["ports"]> {
  const free = await freePorts(portNames.length);
  const chosen = await Promise.all(
    portNames.map(async (name, index): Promise<[PortName, number]> => {
      const before = kept?.[name];
      if (before !== undefined && (await isFreePort(before))) return [name, before];
      if (before !== undefined)
        progress(`port ${before} of ${name} is in use; another one is used from now on`);
      return [name, free[index] as number];
    }),
  );
  return Object.fromEntries(chosen) as StackState["ports"];
}
