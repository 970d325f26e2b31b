import type { Accounts } from './accounts/accounts.js';
import { accountRoutes } from './accounts/routes.js';
import { billRoutes } from './billers/routes.js';
import type { Bills } from './billers/bills.js';
import { transferRoutes } from './transfers/routes.js';
import type { Transfers } from './transfers/transfers.js';
import { cardRoutes } from './issuer/routes.js';
import { faultsBody, type Faults } from './shared/faults.js';
import { failoverBody, type LaggingCopy } from './shared/lagging-copy.js';
import { readBody, Refusal, validate } from './shared/http.js';
import type { Checks } from './identity/checks.js';
import { identityRoutes } from './identity/routes.js';
import type { Issuer } from './issuer/issuer.js';
import type { Methods, Route, RouteEntry } from './shared/route.js';
import type { Acquirer } from './acquirer/acquirer.js';
import { acquirerRoutes } from './acquirer/routes.js';
import type { Effect } from './shared/journal-effects.js';
import type { State } from './state.js';
import { moneyLedger } from './shared/money-ledger.js';
import { answer, errorAnswer, journalQuery, listQuery, type Outcome } from './shared/wire.js';

type Parts = {
  transfers: Transfers;
  issuer: Issuer;
  acquirer: Acquirer;
  virtualAccounts: Accounts;
  checks: Checks;
  secrets: readonly string[];
  bills: Bills;
  state: State;
  faults: Faults;
  copy: LaggingCopy;
  about: Record<string, unknown>;
};

/** Finds the route of a request; returns the answer 404 or 405 if there is none. */
export function createRoutes(parts: Parts): (method: string, path: string) => Route | Outcome {
  const all = [
    ...transferRoutes(parts.transfers),
    ...cardRoutes(parts.issuer),
    ...acquirerRoutes(parts.acquirer),
    ...accountRoutes(parts.virtualAccounts),
    ...identityRoutes(parts.checks, parts.secrets),
    ...billRoutes(parts.bills),
    ...auditRoutes(parts),
  ];
  const fixed = new Map(all.filter(([path]) => !path.includes(':')));
  const named = all.filter(([path]) => path.includes(':'));

  function find(path: string): Methods | undefined {
    const found = fixed.get(path);
    if (found) return found('');
    for (const [pattern, methods] of named) {
      const segment = segmentOf(path, pattern);
      if (segment !== null) return methods(decode(segment));
    }
    return undefined;
  }

  return (method, path) => {
    const methods = find(path);
    if (!methods) return errorAnswer(404, 'no_such_route', 'there is no such route');
    const route = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (route) return route;
    const allow = Object.keys(methods).join(', ');
    return errorAnswer(405, 'method_not_allowed', 'not with this method', { allow });
  };
}

function auditRoutes({ state, faults, copy, about }: Parts): RouteEntry[] {
  const health = () =>
    answer(200, {
      ok: true,
      ...about,
      last_seq: state.effects.length,
      callbacks_waiting: state.callbacks.size,
    });
  const journal: Route = {
    call: null,
    read: (_req, query) => {
      const filter = validate(Object.fromEntries(query), journalQuery);
      return () => answer(200, { entries: journalEntries(state, filter) });
    },
  };
  const ledger: Route = {
    call: 'list',
    read: (_req, query) => {
      const window = validate(Object.fromEntries(query), listQuery);
      return () => moneyLedger(state.effects, window);
    },
  };
  const setFaults: Route = {
    call: null,
    read: async (req) => {
      const setting = await readBody(req, faultsBody);
      return () => {
        faults.set(setting);
        return answer(200, faults.current());
      };
    },
  };
  const showFaults: Route = { call: null, read: () => () => answer(200, faults.current()) };
  const failOver: Route = {
    call: null,
    read: async (req) => {
      const setting = await readBody(req, failoverBody);
      return () => {
        copy.failOver(setting);
        return answer(200, setting);
      };
    },
  };
  return [
    ['/_sandbox/health', () => ({ GET: { call: null, read: () => health } })],
    ['/v1/ledger', () => ({ GET: ledger })],
    ['/_sandbox/journal', () => ({ GET: journal })],
    ['/_sandbox/faults', () => ({ GET: showFaults, POST: setFaults })],
    ['/_sandbox/failover', () => ({ POST: failOver })],
  ];
}

type JournalFilter = {
  reference?: string | undefined;
  client_reference?: string | undefined;
  after: number;
  limit: number;
};

function journalEntries(state: State, filter: JournalFilter) {
  const wanted = (effect: Effect): boolean =>
    (filter.reference === undefined || effect.reference === filter.reference) &&
    (filter.client_reference === undefined || effect.client_reference === filter.client_reference);
  return state.effects
    .slice(filter.after)
    .filter(wanted)
    .slice(0, filter.limit)
    .map((effect) => ({ ...effect, at: new Date(effect.at).toISOString() }));
}

/** Returns the segment that matches the `:` of the pattern; null if the path does not match. */
function segmentOf(path: string, pattern: string): string | null {
  const [before = '', after = ''] = pattern.split(':');
  if (!path.startsWith(before) || !path.endsWith(after)) return null;
  const segment = path.slice(before.length, path.length - after.length);
  return segment === '' || segment.includes('/') ? null : segment;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(errorAnswer(400, 'invalid_request', 'the path is not valid'));
  }
}
