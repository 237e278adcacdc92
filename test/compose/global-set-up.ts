// Before the tests of the deployment: builds what is missing of the stand-ins, and starts an engine that has them.
import { obstacle, startEngine } from "./engine.js";
import { makeImages } from "./stand-ins/images.js";
import { buildPrograms } from "./stand-ins/programs.js";

const say = (line: string) => console.error(line);

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Vitest calls it for each of its projects.
  if (process.env["TEST_ENGINE"] !== undefined) return undefined;
  process.env["TEST_ENGINE"] = "";
  const problem = obstacle();
  if (problem !== undefined) throw new Error(`npm run test:compose: ${problem}`);
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
