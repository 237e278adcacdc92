// Before the tests of the deployment: builds what is missing of the stand-ins, and starts an engine that has them.
import { obstacle, startEngine } from "./engine.js";
import { makeImages } from "./stand-ins/images.js";
import { buildPrograms, missingPrograms } from "./stand-ins/programs.js";

const say = (line: string) => console.error(line);

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Vitest calls it for each of its projects.
  if (process.env["TEST_ENGINE"] !== undefined) return undefined;
  process.env["TEST_ENGINE"] = "";
  // `verify` does not build for half an hour, and what it cannot run it names.
  const isOptional = process.env["TEST_COMPOSE"] === "optional";
  const problem =
    obstacle() ??
    (isOptional && missingPrograms().length > 0 ? "no stand-ins are built" : undefined);
  if (problem !== undefined) {
    if (!isOptional) throw new Error(`npm run test:compose: ${problem}`);
    say(`the deployment is not started: ${problem}`);
    return undefined;
  }
  await buildPrograms(say);
  const engine = await startEngine();
  try {
    await makeImages(engine.env, say);
  } catch (error) {
    await engine.close();
    throw error;
  }
  process.env["TEST_ENGINE"] = JSON.stringify(engine.env);
  return () => engine.close();
}
