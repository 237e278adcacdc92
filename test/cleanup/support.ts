// What the tests of the clean-up share.

/** As the configuration has it by default. */
export const retention = {
  inboxDays: 90,
  parkedDays: 365,
  journalDays: 400,
  documentOrphanDays: 30,
  quarantineDays: 14,
  documents: {},
  batchSize: 1_000,
};
