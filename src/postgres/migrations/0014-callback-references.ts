// The reference in a callback to an account's address whose process is not known, so that the erasure of that process finds its body:
// who erases cannot open one.
export const callbackReferences = {
  name: "0014-callback-references",
  sql: `
    -- Null once its process is known.
    alter table trustflow.callbacks add column reference text;
  `,
};
