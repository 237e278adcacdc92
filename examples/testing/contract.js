// A piece of a business application, which the tests of this folder test: the contract goes out by certified post.

/** Joins the letter where an earlier run has started it. */
export function sendContract(trustflow, { order, name, address, pdf }) {
  return trustflow.sendPostal(order, {
    document: { base64: pdf, mediaType: "application/pdf" },
    recipientName: name,
    recipientAddress: address,
    lookupKey: order,
    options: { certificationLevel: "Advanced" },
    // Once a day: the provider's callbacks tell the news earlier.
    settings: { pollIntervalSeconds: 86_400 },
  });
}

/** What a clerk reads of it. */
export async function stateOf(letter) {
  const { phase, state } = await letter.status();
  return phase === "ended" ? "done" : (state ?? "on its way");
}
