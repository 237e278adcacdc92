// Which addresses of the Internet a webhook may go to: not those of this machine, of its network, or of its cloud's metadata service.
import dns from "node:dns";
import type { LookupAddress } from "node:dns";
import { BlockList, isIP } from "node:net";
import type { LookupFunction } from "node:net";

/** IANA's special-purpose IPv4 addresses, multicast and reserved ones. */
const notPublic = new BlockList();
for (const range of [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24",
  "192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
].flatMap((line) => line.split(" "))) {
  const [net = "", bits] = range.split("/");
  notPublic.addSubnet(net, Number(bits), "ipv4");
}
/** All that is public of IPv6 is in 2000::/3; in it these are special, or carry an IPv4 address (Teredo, 6to4). */
const unicast = new BlockList();
unicast.addSubnet("2000::", 3, "ipv6");
for (const [net, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  notPublic.addSubnet(net, bits, "ipv6");

export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !notPublic.check(address, "ipv4");
  return unicast.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

/** Its code is the problem of a delivery, and `refused` is the host, with its addresses where it is a name. */
export class PrivateAddress extends Error {
  override readonly name = "PrivateAddress";
  readonly code = "privateAddress";
  readonly refused: string;

  constructor(host: string, addresses: string[] = []) {
    const refused = addresses.length > 0 ? `${host} (${addresses.join(", ")})` : host;
    super(`${refused} has no public address`);
    this.refused = refused;
  }
}

/** A name server may answer with many. */
const MAX_SHOWN = 4;

/**
 * One lookup of a host at a time, also while nobody waits for it any more: Node has few threads for lookups, and one whose name server does
 * not answer holds its thread for long.
 */
const pending = new Map<string, Promise<LookupAddress[]>>();

function addressesOf(host: string): Promise<LookupAddress[]> {
  const found =
    pending.get(host) ??
    new Promise<LookupAddress[]>((resolve, reject) => {
      dns.lookup(host, { all: true }, (error, all) => {
        pending.delete(host);
        if (error) reject(error);
        else resolve(all);
      });
    });
  pending.set(host, found);
  return found;
}

const lookupOf =
  (isAllowed: (address: string) => boolean): LookupFunction =>
  (host, { all }, callback) => {
    addressesOf(host).then(
      (found) => {
        const addresses = found.filter(({ address }) => isAllowed(address));
        const [first] = addresses;
        const refused = found.slice(0, MAX_SHOWN).map(({ address }) => address);
        if (!first) return callback(new PrivateAddress(host, refused), []);
        if (all) return callback(null, addresses);
        callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, []),
    );
  };

/**
 * Resolves a host to its public addresses alone. The connection is made to one of these, so that no second answer of a name server can
 * lead it elsewhere.
 */
export const publicLookup = lookupOf(isPublic);
const anyLookup = lookupOf(() => true);

/** How a connection to this endpoint finds its address. Throws where its host is itself an address to which it may not go. */
export function lookupFor({ url, allowPrivate }: { url: string; allowPrivate: boolean }) {
  if (allowPrivate) return anyLookup;
  // Node resolves no host that is an address itself.
  const host = new URL(url).hostname.replaceAll(/[[\]]/g, "");
  if (isIP(host) !== 0 && !isPublic(host)) throw new PrivateAddress(host);
  return publicLookup;
}
