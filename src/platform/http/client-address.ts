import ipaddr from 'ipaddr.js';
import type { Middleware } from './context.js';

/** Notes the client's address for allow-lists and limits. `trustedProxies` is how many proxies of ours stand in front. */
export function clientAddress({ trustedProxies }: { trustedProxies: number }): Middleware {
  return (ctx, next) => {
    const forwardedFor = ctx.req.headers['x-forwarded-for'];
    ctx.state.address = resolveAddress({
      socketAddress: ctx.req.socket.remoteAddress ?? '',
      forwardedFor: typeof forwardedFor === 'string' ? forwardedFor : '',
      trustedProxies,
    });
    return next();
  };
}

/**
 * Each proxy appends the address it was called from, so the entry that our outermost proxy wrote is `trustedProxies`
 * from the right, and whatever a client put in front of it is never looked at. If that entry is missing or is no
 * address, the request did not come the whole way through our proxies: then only the socket can be believed.
 */
export function resolveAddress({
  socketAddress,
  forwardedFor,
  trustedProxies,
}: {
  socketAddress: string;
  forwardedFor: string;
  trustedProxies: number;
}): string {
  const socket = canonicalAddress(socketAddress) ?? 'unknown';
  if (trustedProxies === 0) return socket;
  const entry = forwardedFor.split(',').at(-trustedProxies);
  return (entry && canonicalAddress(withoutPort(entry.trim()))) || socket;
}

/** Some proxies write the client's port too: `203.0.113.9:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const match = /^(?:\[([^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?$/.exec(entry);
  return match?.[1] ?? match?.[2] ?? entry;
}

/**
 * The name under which an address is counted. An IPv6 customer is given a whole /64, so counting single addresses of
 * it would count nothing.
 */
export function addressSubject(address: string): string {
  if (!address.includes(':')) return address;
  const [network] = ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString().split('%');
  return `${network}/64`;
}

function canonicalAddress(text: string): string | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return null;
  return ipaddr.process(text).toString();
}
