// A reader of docs/operations/install.md with a checkout and a container engine.
import { expect } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { textOf } from "../docs/repository.js";
import { nameOf, shellBlocks } from "../docs/shell-blocks.js";
import { PageWorld } from "../harness/pages/world.js";
import { type Place, placesOf } from "./networks.js";

export const CLI = "docker compose run --rm cli";
export const SANDBOX = "docker compose exec sandbox trustflow-sandbox";
const LETTER = "examples/letter.json";

/** What the pages of operators show for this deployment, in the order in which the tests come to it. */
const shown = ["install", "keys", "upgrade", "retention"]
  .flatMap((page) => shellBlocks(`docs/operations/${page}.md`))
  .filter(
    ({ commands, isElsewhere }) =>
      isElsewhere || commands.some(({ text }) => text.includes(".env.example")),
  )
  .flatMap(({ commands }) => commands.map(nameOf))
  // It asks Docker Hub.
  .filter((name) => name !== "node scripts/pin-image.mjs");

export class Deployment {
  /** What of the pages is still to be run. */
  readonly left = [...shown];
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

  /** Runs the next command of the pages, which must be this one, or what stands for it here. */
  async follow(name: string, instead = name, typed = ""): Promise<string> {
    expect(this.left.shift()).toBe(name);
    return this.run(instead, typed);
  }

  /** A command of Trustflow, with the deployment's configuration. */
  cli(args: string): Promise<string> {
    return this.run(`${CLI} ${args}`);
  }

  /** Stops the provider's clock: what is sent stays open. */
  async hold(): Promise<void> {
    await this.run(`${SANDBOX} clock --speed manual`);
  }

  /** It repeats at once the callbacks that nobody took: its own pauses are up to half an hour of real time. */
  async goOn(): Promise<void> {
    await this.run(`${SANDBOX} advance 1h`);
    await this.run(`${SANDBOX} clock --speed auto`);
  }

  /** Starts a letter of that id. */
  async send(id: string): Promise<void> {
    const letter = JSON.parse(textOf(LETTER)) as object;
    await this.world.file(`work/${id}.json`, JSON.stringify({ ...letter, lookupKey: id }));
    await this.cli(`send-postal --input ${id}.json --id ${id}`);
  }

  async delivered(id: string): Promise<void> {
    await this.cli(`result ${id} --expect delivered`);
  }

  /** The container of each running service. */
  async places(): Promise<Place[]> {
    return placesOf(await this.run("docker inspect $(docker ps --quiet)"));
  }

  async place(service: string): Promise<Place> {
    const found = (await this.places()).find((place) => place.service === service);
    if (!found) throw new Error(`${service} does not run`);
    return found;
  }

  /** Resolves when another process of the service is healthy. */
  async isHealthyAgain(service: string, pid: number): Promise<void> {
    for (;;) {
      const now = (await this.places()).find((place) => place.service === service);
      if (now?.isHealthy && now.pid !== pid) return;
      await delay(500);
    }
  }

  async close(): Promise<void> {
    await this.world.run("docker compose --profile '*' down --volumes --remove-orphans");
    await this.world.close();
  }
}
