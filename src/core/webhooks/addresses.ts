import ipaddr from 'ipaddr.js';

/** Global unicast. IPv6 addresses outside of it are not on the public network. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');
/** A public address that is the metadata service of a cloud. */
const METADATA = new Set(['168.63.129.16']);

/**
 * True if an address is one of the public network. Loopback, private, link-local, carrier-grade NAT, metadata, reserved,
 * multicast, and every IPv6 form that carries an IPv4 address are not.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.kind() === 'ipv6') {
    const v6 = parsed as ipaddr.IPv6;
    if (v6.isIPv4MappedAddress()) return isPublicAddress(v6.toIPv4Address().toString());
    return v6.zoneId === undefined && v6.range() === 'unicast' && v6.match(GLOBAL_IPV6);
  }
  return parsed.range() === 'unicast' && !METADATA.has(parsed.toString());
}

/** The rules for the addresses of endpoints. */
export type AddressRules = {
  /** Accepts every address, for development with receivers on the same machine. */
  allowPrivate: boolean;
  requireHttps: boolean;
};

const MAX_URL = 2_048;

/**
 * The problem of an endpoint's address as it is written, or null. The URL parser converts every spelling of an IPv4
 * address (octal, hexadecimal, one number) to its usual form first. The addresses that a name resolves to are checked
 * at every connection.
 */
export function problemWithUrl(text: string, rules: AddressRules): string | null {
  if (text.length > MAX_URL) return `it is longer than ${MAX_URL} characters`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) return 'it is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'it is neither https nor http';
  if (rules.requireHttps && url.protocol !== 'https:') return 'it is not https';
  if (url.username !== '' || url.password !== '') return 'it carries a user name or a password';
  if (rules.allowPrivate) return null;
  const host = hostOf(url);
  if (ipaddr.isValid(host)) {
    return isPublicAddress(host) ? null : 'its address is not one of the public network';
  }
  return /(^|\.)localhost$/i.test(host) ? 'its address is not one of the public network' : null;
}

/** The host without the brackets of an IPv6 address and without the dot that ends a full name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
