import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** These start a whole service and wait for it, so they take longer than their size says. */
const STARTS_A_SERVICE = /\bstart(?:Service|Listening|Rehearsal)\(/;

/** The files of each run that take longest, longest first: from five minutes to three quarters of one. */
const LONGEST = [
  'proofs/restored-databases',
  'chaos/slow/npm-start',
  'proofs/secret-rotation',
  'proofs/paystack-key',
  'proofs/transfer-endings',
  'proofs/bank-backlog',
  'proofs/engine-credentials',
  'proofs/two-rates',
  'paystack/payment-service.proof',
  'proofs/forbidden-acts',
  'chaos/outages/clock',
  'proofs/paystack-transfers',
  'proofs/recovery',
  'chaos/outages/temporal',
  'proofs/operators',
  'proofs/paystack-faults',
  'chaos/outages/bank',
  'chaos/failover/failover',
  'chaos/crash/frozen-bank',
  'proofs/oidc',
  'chaos/slow/npm-run-dev',
  'proofs/slow-store',
  'composition/isolation',
  'proofs/blocked-commits',
  'paystack/refund-reports.proof',
  'proofs/reconciliation',
  'paystack/identity-service.proof',
  'proofs/revocations',
  'refunds/unmarked-reports.proof',
  'proofs/charge-endings',
  'proofs/data-files',
  'contract/sandbox-bank-cards.proof',
  'e2e/tenant-commands.proof',
  'proofs/sealing-keys',
  'card-fundings/late-execution.proof',
  'proofs/stalled-workflows',
  'charges/rules',
  'charges/charges',
  'paystack/account-service.proof',
  'core/webhooks/commands.proof',
  'composition/document',
  'deposits/deposits',
  'proofs/bank-faults',
  'chaos/crash/webhooks',
  'refunds/refunds',
  'core/provider-events/pipeline',
  'chaos/crash/authorizations',
  'chaos/crash/engines',
  'bill-payments/bill-payments',
  'core/provider-events/provider-events',
];

/** The place of a file among the longest ones; after them for any other. */
function placeOf({ path }) {
  const name = relative('test', path).replace(/\.test\.ts$/, '');
  const place = LONGEST.indexOf(name);
  return place === -1 ? LONGEST.length : place;
}

/**
 * Starts the files that take longest first, so that no worker ends with one. Jest goes by the durations of earlier runs, after
 * the files that are new. Without those of most files, as in a new clone, the first ones are the named ones, and then
 * those that start a service.
 */
export class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const known = sorted.filter(({ duration }) => duration !== undefined);
    if (known.length > sorted.length / 2) return sorted;
    const startsService = new Map(
      sorted.map((test) => [test, STARTS_A_SERVICE.test(readFileSync(test.path, 'utf8'))]),
    );
    return sorted.toSorted(
      (a, b) =>
        placeOf(a) - placeOf(b) || Number(startsService.get(b)) - Number(startsService.get(a)),
    );
  }
}

// oxlint-disable-next-line import/no-default-export -- jest takes a sequencer's default export
export default LongestFirst;
