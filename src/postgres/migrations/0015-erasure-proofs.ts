// The operator who has begun an erasure, and the signature that proves it (docs/decisions/0024).
export const erasureProofs = {
  name: "0015-erasure-proofs",
  sql: `
    -- operator, at, value. Null where no operator's key was there, and none was required.
    alter table trustflow.erasures add column proof jsonb;
  `,
};
