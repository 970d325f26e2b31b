import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { Agent, buildConnector, request } from 'undici';
import { hostOf, isPublicAddress, problemWithUrl, type AddressRules } from './addresses.js';
import type { Attempt, AttemptError } from './event.js';

/** The part of an answer that is read before its connection is closed: enough to reuse the connection. */
const MAX_ANSWER_BYTES = 16 * 1024;
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/** Resolves a name to its addresses. */
export type Resolve = (host: string) => Promise<string[]>;
/** Sends signed requests to endpoints. */
export type Sender = ReturnType<typeof createSender>;

class AddressRefused extends Error {
  code = 'ADDRESS_REFUSED';
}
class NotResolved extends Error {
  code = 'NOT_RESOLVED';
}

/**
 * Creates the function that sends one message to a tenant's address. Connections are made to checked addresses only;
 * redirects are answers and are not followed; the body of an answer is discarded. It never throws: every end is an attempt
 * that can be recorded.
 */
export function createSender(rules: AddressRules & { timeoutMs: number; resolve?: Resolve }) {
  const { timeoutMs } = rules;
  const agent = new Agent({
    connect: checkedConnector(rules),
    pipelining: 1,
    // The time limit is ours, below: the client's own are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
  });

  return {
    async send(url: string, headers: Record<string, string>, body: string): Promise<Attempt> {
      const at = new Date();
      const begin = performance.now();
      const ended = (status: number | null, error: AttemptError | null): Attempt => ({
        at,
        status,
        error,
        duration_ms: Math.round(performance.now() - begin),
      });
      // Settings may have become stricter since the endpoint was added.
      if (problemWithUrl(url, rules) !== null) return ended(null, 'address_refused');
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
          signal,
        });
        const { statusCode } = answer;
        const taken = statusCode >= 200 && statusCode < 300;
        const attempt = ended(statusCode, taken ? null : 'refused');
        await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => {});
        return attempt;
      } catch (error) {
        return ended(null, signal.aborted ? 'timeout' : errorOf(error));
      }
    },

    close: () => agent.destroy(),
  };
}

function errorOf(error: unknown): AttemptError {
  const { code } = error as { code?: unknown };
  if (code === 'ADDRESS_REFUSED') return 'address_refused';
  return code === 'NOT_RESOLVED' ? 'name_not_resolved' : 'connection';
}

/** Connects to checked addresses only: the address in the URL, or those that its name resolves to. */
function checkedConnector(
  rules: AddressRules & { timeoutMs: number; resolve?: Resolve },
): buildConnector.connector {
  const { allowPrivate, timeoutMs, resolve = resolver(allowPrivate) } = rules;
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address);
  const find = callbackify(async (host: string) => {
    const all = await resolve(host.replace(/\.$/, '')).catch((cause: unknown) => {
      throw new NotResolved('the name does not resolve', { cause });
    });
    const found = all.filter(isAllowed);
    if (found.length === 0) throw new AddressRefused('not a public address');
    return found.map((address) => ({ address, family: isIP(address) }));
  });
  const checkedLookup: LookupFunction = (host, options, callback) =>
    find(host, (error, found) => {
      const [first] = found ?? [];
      if (error || !first) callback(error, '', 0);
      else if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  const connect = buildConnector({ timeout: timeoutMs, lookup: checkedLookup });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !isAllowed(host)) {
      callback(new AddressRefused('not a public address'), null);
      return;
    }
    connect(options, callback);
  };
}

/**
 * Resolves a name without the thread pool, in which a name server that does not answer would block files and other
 * look-ups. The system's own names count in development only.
 */
function resolver(allowPrivate: boolean): Resolve {
  const dns = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (host) => {
    if (allowPrivate) return (await lookup(host, { all: true })).map(({ address }) => address);
    const [v4, v6] = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
    const found = [v4, v6].flatMap((part) => (part.status === 'fulfilled' ? part.value : []));
    if (found.length === 0) throw new Error('no answer has an address');
    return found;
  };
}

/** The problem of an address, with its name looked up. Null if there is none, or if the name does not resolve yet. */
export async function problemWithAddress(
  text: string,
  rules: AddressRules & { resolve?: Resolve },
): Promise<string | null> {
  const problem = problemWithUrl(text, rules);
  if (problem !== null || rules.allowPrivate) return problem;
  const host = hostOf(new URL(text));
  if (isIP(host) !== 0) return null;
  const found = await (rules.resolve ?? resolver(false))(host).catch(() => []);
  return found.length > 0 && !found.some(isPublicAddress)
    ? 'its name leads to no address of the public network'
    : null;
}
