import { readBody } from '../shared/http.js';
import type { RouteEntry } from '../shared/route.js';
import type { Checks } from './checks.js';
import { checkBody, setCheckOutcomeBody, toStoredRequest } from './wire.js';

/** The routes of identity checks. The secrets key the digests of the requests. */
export const identityRoutes = (checks: Checks, secrets: readonly string[]): RouteEntry[] => [
  [
    '/v1/checks',
    () => ({
      POST: {
        call: 'check',
        read: async (req) => {
          const body = await readBody(req, checkBody);
          const [order, ...earlier] = secrets.map((secret) => toStoredRequest(body, secret));
          if (order === undefined) throw new Error('the bank has no secret');
          return () =>
            checks.start(
              order,
              earlier.map(({ digest }) => digest),
            );
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
