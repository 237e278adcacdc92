// A reader of docs/operations/install.md with a checkout and a container engine.
import { expect } from "vitest";
import { nameOf, shellBlocks, type ShownCommand } from "../docs/shell-blocks.js";
import { PageWorld } from "../harness/pages/world.js";

const PAGE = "docs/operations/install.md";
/** It asks Docker Hub. */
const notHere = ["node scripts/pin-image.mjs"];

export class Deployment {
  readonly #shown: ShownCommand[] = shellBlocks(PAGE)
    .flatMap(({ commands }) => commands)
    .filter((command) => !notHere.includes(nameOf(command)));

  readonly world: PageWorld;

  private constructor(world: PageWorld) {
    this.world = world;
  }

  static async open(engine: Record<string, string>): Promise<Deployment> {
    const world = await PageWorld.open();
    for (const [name, value] of Object.entries(engine)) world.set(name, value);
    return new Deployment(world);
  }

  /** Runs a command that must succeed. */
  async run(command: string, typed = ""): Promise<string> {
    const { code, output } = await this.world.run(command, typed);
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output.slice(-8_000)}`);
    return output;
  }

  /** Runs the page's next command, which must be this one, or what stands for it here. */
  async follow(name: string, instead = name, typed = ""): Promise<string> {
    expect(this.#shown.slice(0, 1).map(nameOf)).toEqual([name]);
    this.#shown.shift();
    return this.run(instead, typed);
  }

  /** What the page shows that was not run. */
  get left(): string[] {
    return this.#shown.map(nameOf);
  }

  /** A command of Trustflow, with the deployment's configuration. */
  cli(args: string, typed = ""): Promise<string> {
    return this.run(`docker compose run --rm cli ${args}`, typed);
  }

  async close(): Promise<void> {
    await this.world.run("docker compose --profile '*' down --volumes --remove-orphans");
    await this.world.close();
  }
}
