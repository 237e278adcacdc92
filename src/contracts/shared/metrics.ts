// Every metric of ours: what `GET /metrics` says of it, and its row in docs/reference/metrics.md, which `npm run reference` writes. No zod:
// the workflows count too.
export interface Metric {
  /** As Prometheus has it. */
  name: string;
  role: "receiver" | "relay" | "worker";
  type: "counter" | "gauge" | "histogram";
  unit: string;
  /** The values of each label, as the page explains them. */
  labels?: Record<string, string>;
  /** Its meaning, as `GET /metrics` says it. */
  help: string;
  /** More about it, for the page alone. */
  more?: string;
}

export const metrics = {
  callbacks: {
    name: "trustflow_callbacks_total",
    role: "receiver",
    type: "counter",
    unit: "callbacks",
    labels: {
      result:
        "`accepted`, `duplicate`, `forged` (404), `notJson` (400), `tooLarge` (413), `overloaded`, `databaseAway` (503), `full` (429), `expired` (410)",
    },
    help: "Callbacks by answer",
  },
  callbackCommit: {
    name: "trustflow_callback_commit_seconds",
    role: "receiver",
    type: "histogram",
    unit: "seconds",
    help: "From a callback's last byte to its commit",
  },
  callbacksInFlight: {
    name: "trustflow_callbacks_in_flight",
    role: "receiver",
    type: "gauge",
    unit: "callbacks",
    help: "Callbacks that are being read or wait for their commit",
  },
  relayCallbacks: {
    name: "trustflow_relay_callbacks_total",
    role: "relay",
    type: "counter",
    unit: "callbacks",
    labels: {
      result:
        "`delivered`, `late` (the process had ended), `parked`, `kept`, `waiting` (to be tried again)",
      reason: "of `parked`: a [reason](callbacks.md)",
    },
    help: "Callbacks by result",
  },
  relayWakes: {
    name: "trustflow_relay_wakes_total",
    role: "relay",
    type: "counter",
    unit: "signals",
    help: "Signals that told a process of surplus callbacks",
    more: "See [a flood of callbacks](callbacks.md#a-flood-of-callbacks)",
  },
  addressesFlooded: {
    name: "trustflow_callback_addresses_flooded",
    role: "relay",
    type: "gauge",
    unit: "addresses",
    help: "Callback addresses with more callbacks than their process receives, and with one of today or yesterday, counted up to 1000",
  },
  relayListening: {
    name: "trustflow_relay_listening",
    role: "relay",
    type: "gauge",
    unit: "0 or 1",
    help: "1 while the relay receives notifications of new callbacks",
  },
  inboxCallbacks: {
    name: "trustflow_inbox_callbacks",
    role: "relay",
    type: "gauge",
    unit: "callbacks",
    labels: {
      state: "`unaddressed` (its process is not known yet), `waiting`, `parked`, `surplus`",
    },
    help: "Callbacks in the inbox that are not settled, counted up to 100000",
  },
  inboxLag: {
    name: "trustflow_inbox_lag_seconds",
    role: "relay",
    type: "gauge",
    unit: "seconds",
    help: "Age of the oldest callback that waits for delivery",
    more: "A replayed one counts from its arrival",
  },
  cleanupAge: {
    name: "trustflow_cleanup_age_seconds",
    role: "relay",
    type: "gauge",
    unit: "seconds",
    help: "Time since `trustflow cleanup` last reached its end and skipped no document; before the first time, since the tables were made",
  },
  webhookDeliveries: {
    name: "trustflow_webhook_deliveries",
    role: "relay",
    type: "gauge",
    unit: "deliveries",
    labels: {
      endpoint: "the name in the configuration",
      state: "`waiting`, `retried` (not taken three times), `failed`",
    },
    help: "Deliveries of webhooks to configured endpoints that wait, or have failed and are not sent again",
    more: "See [webhooks](../webhooks.md)",
  },
  openProcesses: {
    name: "trustflow_processes_open",
    role: "relay",
    type: "gauge",
    unit: "processes",
    labels: { process: "such as `sendPostal`" },
    help: "Open processes, in the relay's Temporal namespace; absent where Temporal does not answer within two seconds",
  },
  inAttention: {
    name: "trustflow_processes_in_attention",
    role: "relay",
    type: "gauge",
    unit: "processes",
    labels: { kind: "of [attention](../errors.md)" },
    help: "Open processes that need an operator decision, in the relay's Temporal namespace",
  },
  stuck: {
    name: "trustflow_processes_stuck",
    role: "relay",
    type: "gauge",
    unit: "processes",
    labels: { repaired: "`no`, `once` (the clean-up's reset did not help)" },
    help: "Open processes whose workflow tasks keep failing, in the relay's Temporal namespace",
    more: "See [a stuck process](stuck.md#a-stuck-process). Counted every `stuck.scanSeconds`; absent before the first count, where the last one failed, and at the relays beside the one that counts",
  },
  workerReady: {
    name: "trustflow_worker_ready",
    role: "worker",
    type: "gauge",
    unit: "0 or 1",
    help: "1 while `GET /ready` of the worker answers 200, looked at every 15 seconds",
    more: "See [a worker that is not ready](stuck.md#a-worker-that-is-not-ready)",
  },
  providerCalls: {
    name: "trustflow_provider_calls_total",
    role: "worker",
    type: "counter",
    unit: "calls",
    labels: {
      provider: "its name",
      operation: "the provider's",
      result:
        "`ok`, a [kind of error](../errors.md), `notAsked` (an attempt that ended at an open circuit), `defect` (ours)",
    },
    help: "Calls to providers by their result",
  },
  providerAnswersRefused: {
    name: "trustflow_provider_answers_refused_total",
    role: "worker",
    type: "counter",
    unit: "answers",
    labels: {
      provider: "its name",
      operation: "the provider's",
      status: "of HTTP",
      mismatch:
        "`mediaType`, `webPage`, `empty`, `notEmpty`, `notJson`, `shape`, `error`, `content`, `redirect`",
      member: "the first one that is missing or wrong, where `mismatch` is `shape`",
    },
    help: "Answers of providers that do not match their specification",
    more: "Each is also a line of the log",
  },
  providerCallSeconds: {
    name: "trustflow_provider_call_seconds",
    role: "worker",
    type: "histogram",
    unit: "seconds",
    labels: { provider: "its name", operation: "the provider's" },
    help: "Duration of calls to providers, whatever the result",
  },
  attentions: {
    name: "trustflow_attentions_total",
    role: "worker",
    type: "counter",
    unit: "attentions",
    labels: { workflowType: "the process", kind: "of [attention](../errors.md)" },
    help: "Attentions raised",
  },
  payloadsRefused: {
    name: "trustflow_payloads_refused_total",
    role: "worker",
    type: "counter",
    unit: "payloads",
    labels: { workflowType: "the process", of: "`start`, `signal`, `update`, `activity`" },
    help: "What came to a process without encryption or tag and was refused",
    more: "See [who may write to Temporal](keys.md#who-may-write-to-temporal)",
  },
} as const satisfies Record<string, Metric>;

/** A counter as the Temporal SDK takes it, which adds `_total` itself: name, unit and description. */
export function counterOf({ name, help }: Metric): [string, undefined, string] {
  return [name.replace(/_total$/, ""), undefined, help];
}

export function promOptions<const M extends Metric>({ name, help, labels = {} }: M) {
  const labelNames = Object.keys(labels) as (keyof NonNullable<M["labels"]> & string)[];
  return { name, help, labelNames };
}
