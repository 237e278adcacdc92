// `Trustflow.embedded()`: a whole system for a user's own test, of which nothing is left; test/long/e2e/virtual-clock.test.ts kills one.
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { Trustflow as Client } from "trustflow-client";
import { processesOf } from "../../harness/left-over.js";
import { folder, program } from "../../../packages/dev/test/program.js";

const LIMIT_MS = 180_000;

const fast = { speed: 40_000 };
const isOpen = `await once(process.stdin, "data");`;

test(
  "a letter ends as delivered, the sandbox can be controlled, and nothing is left after close()",
  async () => {
    const { child, lines } = program(
      fast,
      `
      import { once } from "node:events";
      const letter = await trustflow.sendPostal("order-1", {
        document: { base64: ${JSON.stringify((await readFile("examples/letter.pdf")).toString("base64"))}, mediaType: "application/pdf" },
        recipientName: "sandbox:delivered",
        recipientAddress: { streetAddress: "Calle Mayor 1", postalCode: "28013", locality: "Madrid", region: "Madrid", country: "ES" },
        lookupKey: "order-1",
        options: { certificationLevel: "Advanced" },
      });
      const { outcome } = await letter.result();
      const { effects } = await trustflow.sandbox.ledger();
      const link = trustflow.linkOf(letter);
      const { temporalUi, sandboxUrl, env } = trustflow;
      console.log(JSON.stringify({ outcome, link, temporalUi, sandboxUrl, env, effects: effects.map(({ operation }) => operation) }));
      ${isOpen}
      await trustflow.close();
      process.stdin.destroy();`,
    );
    const said = JSON.parse((await lines.next()).value);
    expect(said).toMatchObject({ outcome: "delivered", effects: ["evi-post.submit"] });
    expect(said.link).toBe(`${said.temporalUi}/namespaces/default/workflows/sendPostal%2Forder-1`);
    for (const url of [said.temporalUi, `${said.sandboxUrl}/_sandbox/ledger`])
      expect([url, (await fetch(url)).status]).toEqual([url, 200]);
    const other = await Client.connect({ env: said.env });
    expect(await (await other.find("order-1")).isOpen()).toBe(false);
    await other.close();
    expect((await processesOf(folder)).length).toBeGreaterThan(5);
    child.stdin.write("\n");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(await processesOf(folder)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  },
  LIMIT_MS,
);
