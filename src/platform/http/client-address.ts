import ipaddr from 'ipaddr.js';
import type { Middleware } from './context.js';

/**
 * Sets `ctx.state.address`, which allow-lists and rate limits use. `trustedProxies` is the number of our own proxies in
 * front of the service.
 */
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
 * The client's address. Each proxy appends the address that called it, so the entry of our outermost proxy is
 * `trustedProxies` from the right, and entries that a client added are ignored. If that entry is missing or is not an
 * address, the request did not pass all our proxies, and the address of the socket is used.
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

/** Removes the port that some proxies append: `203.0.113.9:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const match = /^(?:\[([^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?$/.exec(entry);
  return match?.[1] ?? match?.[2] ?? entry;
}

/**
 * The name under which an address is counted. An IPv6 customer usually controls a whole /64, so single addresses are
 * not counted.
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
