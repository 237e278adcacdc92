// Sends a letter to a simulated post provider and follows it to its end. Nothing leaves this machine.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Trustflow } from "trustflow-dev";

// Temporal, PostgreSQL, the simulated providers and Trustflow's own servers, in a temporary folder.
const trustflow = await Trustflow.embedded({ progress: console.log });

// "order-1" is your own id: a second start with it joins the same letter, so it is never sent twice.
const letter = await trustflow.sendPostal("order-1", {
  document: { base64: await readFile("letter.pdf", "base64"), mediaType: "application/pdf" },
  recipientName: "sandbox:delivered", // what the simulated provider does with it; try sandbox:undelivered
  recipientAddress: {
    streetAddress: "Calle Mayor 1",
    postalCode: "28013",
    locality: "Madrid",
    region: "Madrid",
    country: "ES",
  },
  lookupKey: "order-1",
  options: { certificationLevel: "Advanced" },
});

// A day of the provider passes in about four seconds.
let shown = "";
for await (const { phase, state } of letter.watch()) {
  const line = [phase, state].filter(Boolean).join(", ");
  if (line !== shown) console.log(`${letter.workflowId}: ${line}`);
  shown = line;
}

const { outcome, documents } = await letter.result();
console.log(`
${letter.workflowId}: ${outcome}, with ${documents.length} documents as evidence

The process, step by step   ${trustflow.linkOf(letter)}
All processes               ${trustflow.temporalUi}
The simulated providers     ${trustflow.sandboxUrl}/_sandbox/ledger`);

if (!process.argv.includes("--once")) {
  console.log("\nThe links work until you press Ctrl-C.");
  await once(process, "SIGINT");
}
await trustflow.close();
