// The floor's two calls to the provider, with got.
import { activityInfo } from "@temporalio/activity";
import { got } from "got";
import http from "node:http";

/**
 * @typedef {{ document: string, recipientName: string, recipientAddress: object,
 *   lookupKey: string, deadlineSeconds: number }} FloorInput
 */

/** @param {{ baseUrl: string, receiverUrl: string }} options */
export function createActivities({ baseUrl, receiverUrl }) {
  const provider = got.extend({
    prefixUrl: `${baseUrl}/v1/EviPost`,
    username: "sandbox",
    password: "sandbox",
    agent: { http: new http.Agent({ keepAlive: true }) },
    timeout: { request: 30_000 },
    retry: { limit: 0 },
  });
  return {
    /**
     * @param {FloorInput} input
     * @returns {Promise<string>}
     */
    async submit(input) {
      const { workflowId = "" } = activityInfo().workflowExecution ?? {};
      /** @type {{ uniqueId: string }} */
      const { uniqueId } = await provider
        .post("Submit", {
          headers: { "X-Evi-IdempotencyToken": workflowId },
          json: {
            Document: input.document,
            RecipientName: input.recipientName,
            RecipientAddress: input.recipientAddress,
            LookupKey: input.lookupKey,
            Options: {
              PushNotificationUrl: `${receiverUrl}/callbacks/${encodeURIComponent(workflowId)}`,
            },
          },
        })
        .json();
      return uniqueId;
    },

    /**
     * @param {string} uniqueId
     * @returns {Promise<{ outcome: string }>}
     */
    async confirm(uniqueId) {
      /** @type {{ results: { outcome: string }[] }} */
      const { results } = await provider("Query", {
        searchParams: { WithUniqueIds: uniqueId },
      }).json();
      return { outcome: results[0]?.outcome ?? "none" };
    },
  };
}

/** @typedef {ReturnType<typeof createActivities>} FloorActivities */
