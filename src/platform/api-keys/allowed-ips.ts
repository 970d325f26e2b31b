import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/**
 * The canonical form of an entry of an allow-list, `10.0.0.0/8` or `2001:db8::/32`, or null if it is neither an address
 * nor a range. A single address becomes a range of one. IPv4 inside IPv6 becomes IPv4, so that a list works whichever
 * family the socket has.
 */
export function canonicalRange(text: string): string | null {
  const range = parseRange(text);
  return range && `${range[0].toString()}/${range[1]}`;
}

/**
 * Creates a test for addresses. An empty list allows every address. A list never allows an address that cannot be
 * parsed.
 */
export function createAllowList(entries: readonly string[]): (address: string) => boolean {
  if (entries.length === 0) return () => true;
  const ranges = entries.map(parseRange).filter((range) => range !== null);
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some((range) => contains(range, address));
  };
}

function contains([network, bits]: Range, address: Address): boolean {
  if (network instanceof ipaddr.IPv4) {
    return address instanceof ipaddr.IPv4 && address.match(network, bits);
  }
  return address instanceof ipaddr.IPv6 && address.match(network, bits);
}

function parseRange(text: string): Range | null {
  const match = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text);
  if (match?.[1] === undefined) return null;
  const address = parseAddress(match[1]);
  if (address === null) return null;
  const width = address instanceof ipaddr.IPv4 ? 32 : 128;
  const bits = match[2] === undefined ? width : Number(match[2]);
  if (bits > width) return null;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return bits >= 96 ? [address.toIPv4Address(), bits - 96] : null;
  }
  return [address, bits];
}

/** Accepts IPv4 in four decimal parts only, because programs read `010.1` in different ways. */
function parseAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) && text.includes(':') ? ipaddr.IPv6.parse(text) : null;
}
