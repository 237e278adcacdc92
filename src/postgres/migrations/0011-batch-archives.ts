// The archive of a batch's affidavits, once it is made: its parts are gone then, and it cannot be made again.
export const batchArchives = {
  name: "0011-batch-archives",
  sql: `
    alter table trustflow.batches
      add column archive_document text,
      add column archive_sha256 text,
      add column archive_size bigint,
      add column archive_media_type text,
      -- Notices of which affidavits are in it.
      add column archive_notices integer;
  `,
};
