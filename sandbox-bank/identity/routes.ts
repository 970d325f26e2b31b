import { readBody } from '../shared/http.js';
import type { RouteEntry } from '../shared/route.js';
import type { Checks } from './checks.js';
import { checkBody, setCheckOutcomeBody, toStoredRequest } from './wire.js';

/** The routes of identity checks. `secret` keys the digests of the requests. */
export const identityRoutes = (checks: Checks, secret: string): RouteEntry[] => [
  [
    '/v1/checks',
    () => ({
      POST: {
        call: 'check',
        read: async (req) => {
          const order = toStoredRequest(await readBody(req, checkBody), secret);
          return () => checks.start(order);
        },
      },
    }),
  ],
  [
    '/v1/checks/:',
    (reference) => ({ GET: { call: 'lookup', read: () => () => checks.lookup(reference) } }),
  ],
  [
    '/_sandbox/checks/:',
    (reference) => ({
      POST: {
        call: null,
        read: async (req) => {
          const { outcome } = await readBody(req, setCheckOutcomeBody);
          return () => {
            if (outcome === 'verified') return checks.setOutcome(reference, outcome, null);
            return outcome === 'failed'
              ? checks.setOutcome(reference, outcome, 'registry_unavailable')
              : checks.setOutcome(reference, 'rejected', outcome);
          };
        },
      },
    }),
  ],
];
