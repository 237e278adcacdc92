// What the configuration says by itself, and the folder that it names.
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { type Config, ringOf } from "../../config.js";
import { Problem, setting } from "./check.js";

export const ringNames = ["codec", "callback", "journal", "documents"] as const;
export type RingName = (typeof ringNames)[number];

export function ring(config: Config, name: RingName) {
  setting(config.keys[name], `keys.${name}`);
  try {
    return ringOf(config, name);
  } catch (error) {
    throw new Problem("keysMalformed", (error as Error).message);
  }
}

/** A worker makes the folder too. */
export async function documentStore({ documents }: Config): Promise<string> {
  const directory = setting(documents.directory, "documents.directory");
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Problem("documentStoreUnusable", `${directory} cannot be used: ${code}`);
  }
  return `directory ${directory}`;
}
