// How often a callback itself has failed: it is then tried alone, and parked at last (docs/design.md §7).
export const callbackFailures = {
  name: "0016-callback-failures",
  sql: "alter table trustflow.callbacks add column failures integer not null default 0",
};
