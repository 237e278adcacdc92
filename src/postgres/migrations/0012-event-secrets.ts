// Secrets that events carry, such as the token of a video call (P1 §6.1): sealed for the workers by the relay, before it signals
// the event (docs/decisions/0033).
export const eventSecrets = {
  name: "0012-event-secrets",
  sql: `
    create table trustflow.event_secrets (
      namespace text not null,
      workflow_id text not null,
      event_id text not null,
      sealed text not null,
      stored_at timestamptz not null default clock_timestamp(),
      primary key (namespace, workflow_id, event_id)
    );
  `,
};
