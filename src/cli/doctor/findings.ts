// All findings of `trustflow doctor`, each with a fixed name and its remedy. docs/operations/doctor.md shows this table.
interface Remedy {
  /** `warn` leaves the exit code at 0. */
  state: "warn" | "fail";
  mend: string;
}

const warn = (mend: string): Remedy => ({ state: "warn", mend });
const fail = (mend: string): Remedy => ({ state: "fail", mend });

export const findings = {
  configurationInvalid: fail("Correct the named key or file."),
  settingMissing: fail("Set the named key in `trustflow.toml`, or the named variable."),
  keysMalformed: fail("Write the ring in the form that `trustflow keys generate` prints."),
  inboxKeysDiffer: fail(
    "Run `trustflow keys public` where the relay has `keys.inbox`, and give its output to the receiver.",
  ),
  secretsPublicMissing: warn(
    "Run `trustflow keys public --of secrets` where the workers have `keys.secrets`, and give its output to the relays as `keys.secretsPublic`.",
  ),
  operatorKeyMalformed: fail(
    "Set `keys.operator` to the first line that `trustflow keys operator NAME` prints, and let this user read it.",
  ),
  operatorKeyUnknown: fail(
    "Give the workers the public key that `trustflow keys operator NAME` printed, or sign with the private key of the public key that they have.",
  ),
  accountsMissing: fail(
    "Add a section `[accounts.default.PROVIDER]` to `trustflow.toml` for each provider, such as `evi-post`.",
  ),
  documentStoreUnusable: fail(
    "Allow Trustflow's user to read and write the folder `documents.directory`.",
  ),
  databaseAway: fail("Start PostgreSQL, or correct `DATABASE_URL`."),
  migrationsMissing: fail("Run `trustflow migrate --database-only`."),
  databaseUserOwns: warn(
    "Give each role the URL of its own database role, such as `trustflow_worker`; use the owner's URL only for `trustflow migrate`.",
  ),
  commitsNotDurable: fail(
    "Set `fsync` and `full_page_writes` to `on`; with `synchronous_standby_names`, set `synchronous_commit` to `on`, `remote_write` or `remote_apply`. Then reload PostgreSQL.",
  ),
  standbyAsynchronous: warn(
    "Add the standby to `synchronous_standby_names`, or never promote it before you have asked the providers what they have.",
  ),
  temporalAway: fail("Start Temporal, or correct `temporal.toml` and the `TEMPORAL_*` variables."),
  namespaceMissing: fail(
    "Run `trustflow migrate --create-namespace 90`, or correct `TEMPORAL_NAMESPACE`.",
  ),
  namespaceNotOwn: fail(
    "Run `trustflow migrate` with both; or correct `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE` or `DATABASE_URL`.",
  ),
  retentionTooShort: warn(
    "Run `temporal operator namespace update --retention 90d --namespace NAMESPACE`, or lower `retention.inboxDays`.",
  ),
  retentionTooLong: fail("Raise `retention.journalDays` at least to the namespace's retention."),
  searchAttributesMissing: fail("Run `trustflow migrate --temporal-only`."),
  searchAttributeOfOtherType: fail(
    "Remove it with `temporal operator search-attribute remove`, then run `trustflow migrate --temporal-only`.",
  ),
  codecKeyMissing: fail("Add the key again as the last one of `keys.codec` in every role."),
  codecKeyWrong: fail("Restore the original bytes of that key id in `keys.codec`, in every role."),
  cleanupOverdue: warn("Run `trustflow cleanup` and read what it prints; schedule it once a day."),
  processesStuck: warn("Run `trustflow cleanup --repair-only`, and schedule it every few minutes."),
  repairFailed: fail(
    "Run `trustflow list --stuck`, then deploy the previous release or one that can replay the process.",
  ),
  clockSkewed: warn("Synchronise both clocks with NTP (`timedatectl set-ntp true`)."),
  credentialsRefused: fail(
    "Correct the credentials of the account (`username` and `password`, or `token`), or ask the provider to provision it.",
  ),
  credentialsOrLraRefused: fail(
    "Correct `username`, `password` and `lraId` of the account, or ask the provider to allow the user `checkData` at that LRA.",
  ),
  lookUpFindsNothing: warn(
    "Ask the provider how to find items: for `evi-post` try `ownKeyInLookupKey`, for `one-shot-signature` correct `paths.retrieve` of the account.",
  ),
  lookUpTooSlow: warn("Raise `journal.lookUpSpacingSeconds` above the provider's delay."),
  pointerMissing: warn(
    "Find out where the provider's answers show it, and set the named key of the account.",
  ),
  providerAway: fail("Correct `baseUrl` of the account, or wait for the provider."),
  notTheProvider: fail("Set `baseUrl` to the provider's API URL."),
  clientCertificateUnreadable: fail(
    "Allow Trustflow's user to read the account's files, use PEM or PKCS#12 as the key's name says, and set the `passphrase`.",
  ),
  clientCertificateOutdated: fail(
    "Convert the file with OpenSSL 3: `openssl pkcs12 -legacy -in OLD -nodes -out BOTH`, then `openssl pkcs12 -export -in BOTH -out NEW`; then delete BOTH, which holds the unencrypted key.",
  ),
  clientCertificateMismatch: fail(
    "Set `keyFile` to the key of the certificate in `certificateFile`.",
  ),
  clientCertificateRefused: fail(
    "Use the certificate that the provider issued to the account, or ask the provider to accept this one.",
  ),
  hungUpAfterHandshake: fail(
    "Run `trustflow doctor` again, because a restarting server causes this once. If it stays, use the certificate that the provider issued to the account, or ask the provider to accept this one.",
  ),
  certificateExpired: fail("Renew the certificate on that server, or our own in its file."),
  certificateExpiresSoon: warn(
    "Renew the certificate before that day, on that server or our own in its file.",
  ),
  certificateNotYetValid: fail("Wait until that day, or correct the clock of this machine."),
  certificateOfOtherHost: fail(
    "Use a host that the certificate names, or a certificate that names this host.",
  ),
  certificateUntrusted: fail(
    "Set the issuer's certificate in `NODE_EXTRA_CA_CERTS`; for an account with a client certificate in `caFile`, for Temporal in `TEMPORAL_TLS_SERVER_CA_CERT_PATH`.",
  ),
  tlsFailed: fail(
    "Use the address and port of a TLS server, and the client certificate that it requires.",
  ),
  callbackFlood: warn(
    "Check `trustflow callbacks surplus`: if the provider did not send them, the address has leaked. The process continues by polling.",
  ),
  addressLifeShort: warn(
    "Raise `callbacks.addressDays` above the duration of the longest process: the receiver answers later callbacks with 410.",
  ),
  callbackUrlNotHttps: fail(
    "Start `callbacks.publicUrl` with `https://`: anyone who has a callback address can use it.",
  ),
  callbackUrlLoopback: fail(
    "Set `callbacks.publicUrl` to the URL at which providers reach the receiver.",
  ),
  receiverAway: fail(
    "Start `trustflow receiver` and its reverse proxy, or correct `callbacks.publicUrl`.",
  ),
  notOurReceiver: fail(
    "Point `callbacks.publicUrl` at the receiver, and give it the same `keys.callback`.",
  ),
  webhookAway: fail(
    "Start the endpoint, or correct `url` of the webhook and the way from here to it.",
  ),
  webhookAddressPrivate: fail(
    "Use a host with a public address, or set `allowPrivate = true` for an endpoint of your own network.",
  ),
  noAnswer: fail("Check for a firewall or an overloaded server."),
  notChecked: warn("Fix the other findings, then run `trustflow doctor` again."),
} as const satisfies Record<string, Remedy>;

export type FindingName = keyof typeof findings;
