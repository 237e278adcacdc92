// All that `trustflow doctor` can find, each by a name that stays, with how to mend it. docs/operations.md shows this table.
interface Remedy {
  /** `warn` leaves the exit code at 0. */
  state: "warn" | "fail";
  mend: string;
}

const warn = (mend: string): Remedy => ({ state: "warn", mend });
const fail = (mend: string): Remedy => ({ state: "fail", mend });

export const findings = {
  configurationInvalid: fail("Correct the key or file that is named."),
  settingMissing: fail("Set the key in `trustflow.toml`, or the variable that is named."),
  keysMalformed: fail("Write the ring as `trustflow keys generate` prints it."),
  inboxKeysDiffer: fail(
    "Give the receiver what `trustflow keys public` prints where relay and operators have their `keys.inbox`.",
  ),
  operatorKeyMalformed: fail(
    "Let `keys.operator` be the line that `trustflow keys operator NAME` prints first, where this user may read it.",
  ),
  operatorKeyUnknown: fail(
    "Give the workers the public key that `trustflow keys operator NAME` printed beside it, or sign with the private key that belongs to theirs.",
  ),
  accountsMissing: fail(
    "Add a section `[accounts.default.PROVIDER]` to `trustflow.toml` for each provider, such as `evi-post`.",
  ),
  documentStoreUnusable: fail(
    "Let Trustflow's user read and write the folder `documents.directory`.",
  ),
  databaseAway: fail("Start PostgreSQL, or correct `DATABASE_URL`."),
  migrationsMissing: fail("Run `trustflow migrate --database-only`."),
  databaseUserOwns: warn(
    "Give each role the URL of its own database role, such as `trustflow_worker`; the owner's is for `trustflow migrate` alone.",
  ),
  commitsNotDurable: fail(
    "Set `fsync` and `full_page_writes` to `on`; with `synchronous_standby_names`, set `synchronous_commit` to `on`, `remote_write` or `remote_apply`. Then reload PostgreSQL.",
  ),
  standbyAsynchronous: warn(
    "Name the standby in `synchronous_standby_names`, or never promote it without asking the providers what they have.",
  ),
  temporalAway: fail("Start Temporal, or correct `temporal.toml` and the `TEMPORAL_*` variables."),
  namespaceMissing: fail(
    "Run `trustflow migrate --create-namespace 90`, or correct `TEMPORAL_NAMESPACE`.",
  ),
  retentionTooShort: warn(
    "Run `temporal operator namespace update --retention 90d --namespace NAMESPACE`, or lower `retention.inboxDays`.",
  ),
  retentionTooLong: fail("Raise `retention.journalDays` to the namespace's retention at least."),
  searchAttributesMissing: fail("Run `trustflow migrate --temporal-only`."),
  searchAttributeOfOtherType: fail(
    "Remove it by `temporal operator search-attribute remove`, then run `trustflow migrate --temporal-only`.",
  ),
  codecKeyMissing: fail("Put the key back, last in the ring `keys.codec` of every role."),
  codecKeyWrong: fail("Give that key id in `keys.codec` the bytes that it had, in every role."),
  processesStuck: warn(
    "Run `trustflow cleanup --repair-only`, and let a schedule run it every few minutes.",
  ),
  repairFailed: fail(
    "See `trustflow list --stuck`, then put the release before back or deploy one that can replay it.",
  ),
  clockSkewed: warn("Let NTP set both clocks (`timedatectl set-ntp true`)."),
  credentialsRefused: fail(
    "Correct the credentials of the account (`username` and `password`, or `token`), or let the provider provision it.",
  ),
  credentialsOrLraRefused: fail(
    "Correct `username`, `password` and `lraId` of the account, or let the provider allow the user `checkData` at that LRA.",
  ),
  lookUpFindsNothing: warn(
    "Ask the provider how items are found: for `evi-post` try `ownKeyInLookupKey`, for `one-shot-signature` correct `paths.retrieve` of the account.",
  ),
  lookUpTooSlow: warn(
    "Raise `journal.lookUpSpacingSeconds` above the time that the provider takes.",
  ),
  providerAway: fail("Correct `baseUrl` of the account, or wait for the provider."),
  notTheProvider: fail("Let `baseUrl` of the account be that of the provider's API."),
  clientCertificateUnreadable: fail(
    "Let Trustflow's user read the account's files, let them be PEM or PKCS#12 as their keys say, and give their `passphrase`.",
  ),
  clientCertificateOutdated: fail(
    "Write the file anew with OpenSSL 3: `openssl pkcs12 -legacy -in OLD -nodes -out BOTH`, then `openssl pkcs12 -export -in BOTH -out NEW`; remove BOTH, which holds the key in clear.",
  ),
  clientCertificateMismatch: fail(
    "Let `keyFile` hold the key of the certificate in `certificateFile`.",
  ),
  clientCertificateRefused: fail(
    "Show the certificate that the provider issued to the account, or let the provider accept this one.",
  ),
  hungUpAfterHandshake: fail(
    "Run `trustflow doctor` again: a server that restarts does it once. Else show the certificate that the provider issued to the account, or let the provider accept this one.",
  ),
  certificateExpired: fail("Renew the certificate: on that server, or ours in its file."),
  certificateExpiresSoon: warn(
    "Renew the certificate before that day: on that server, or ours in its file.",
  ),
  certificateNotYetValid: fail("Wait until that day, or correct this machine's clock."),
  certificateOfOtherHost: fail(
    "Use the host that the certificate names, or a certificate that names this host.",
  ),
  certificateUntrusted: fail(
    "Give the issuer's certificate as `NODE_EXTRA_CA_CERTS`, as `caFile` of an account with a client certificate, for Temporal as `TEMPORAL_TLS_SERVER_CA_CERT_PATH`.",
  ),
  tlsFailed: fail(
    "Let address and port be those of a TLS server, with the client certificate that it asks for.",
  ),
  callbackFlood: warn(
    "Look at `trustflow callbacks surplus`: where they are not the provider's, its address has leaked; the process goes on by asking.",
  ),
  addressLifeShort: warn(
    "Raise `callbacks.addressDays` above the longest process: later callbacks are answered 410.",
  ),
  callbackUrlNotHttps: fail(
    "Let `callbacks.publicUrl` begin with `https://`: an address is a capability.",
  ),
  callbackUrlLoopback: fail(
    "Let `callbacks.publicUrl` be the name under which providers reach the receiver.",
  ),
  receiverAway: fail(
    "Start `trustflow receiver` and its reverse proxy, or correct `callbacks.publicUrl`.",
  ),
  notOurReceiver: fail(
    "Let `callbacks.publicUrl` lead to the receiver, and give it the same `keys.callback`.",
  ),
  noAnswer: fail("See whether a firewall or an overload is in the way."),
  notChecked: warn("Mend the other findings, then run `trustflow doctor` again."),
} as const satisfies Record<string, Remedy>;

export type FindingName = keyof typeof findings;
