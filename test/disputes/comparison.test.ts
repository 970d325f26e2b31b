import type { Charge } from '../../src/capabilities/charges/record.js';
import { agrees, reconciledDisputes } from '../../src/capabilities/disputes/comparison.js';
import { disputeId, newDispute, type Dispute } from '../../src/capabilities/disputes/record.js';
import { ProviderNotConfigured } from '../../src/core/providers/not-configured.js';
import type {
  Dispute as TheirDispute,
  PaymentProvider,
} from '../../src/core/providers/payment-provider.js';
import { emptyReport } from '../../src/core/reconciliation/comparison.js';
import type { PagePosition } from '../../src/core/reconciliation/pages.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { NOW } from '../support/transfers.js';

const AMOUNT = 200_000n;
const charge: Charge = transition(sent(pageCharge()), paid({ feeMinor: null })).next;
const dispute: Dispute = newDispute(
  charge,
  {
    _id: disputeId(charge.provider, 'case_1'),
    provider_dispute_id: 'case_1',
    amount_minor: AMOUNT,
    funds: 'with_us',
  },
  NOW,
);
const theirs: TheirDispute = {
  id: 'case_1',
  charge: { reference: '', handle: null },
  amountMinor: AMOUNT,
  currency: 'NGN',
  state: 'open',
  funds: 'with_us',
  reason: null,
  dueAt: null,
};

/** A comparison of one open dispute of each of these tenants, with this answer of their provider. */
function comparisonOf(tenants: readonly string[], find: () => Promise<TheirDispute[]>) {
  const provider: Pick<PaymentProvider, 'findDisputes'> = {
    findDisputes: async () => ({
      kind: 'page',
      items: await find(),
      next: null,
      providerRequestId: null,
    }),
  };
  const comparison = reconciledDisputes({
    charges: { store: { find: async () => charge, get: async () => charge } },
    disputes: {
      store: {
        get: async () => dispute,
        applyFact: () => Promise.reject(new Error('nothing differs')),
        openOf: async (tenant, after) => (after ? [] : [{ ...dispute, tenant_id: tenant }]),
      },
    },
    providers: { payments: [], payment: () => provider as PaymentProvider },
  });
  const report = emptyReport();
  const breaks = { note: async () => undefined };
  const run = { apply: true, takeTurn: async () => undefined, report, breaks };
  const pageFrom = (position: PagePosition | null, limit: number) =>
    comparison.reconcilePage(run, { since: NOW, tenants, limit }, position);
  return { pageFrom, report };
}

const tenants = Array.from({ length: 20 }, (_, i) => `ten_${i}`);

test('the disputes of a page are asked about at once, but no more than eight', async () => {
  const calls = { now: 0, most: 0 };
  const { pageFrom, report } = comparisonOf(tenants, async () => {
    calls.now += 1;
    calls.most = Math.max(calls.most, calls.now);
    await new Promise(setImmediate);
    calls.now -= 1;
    return [theirs];
  });
  let at: PagePosition | null = null;
  do at = await pageFrom(at, 100);
  while (at !== null);
  expect([calls.most, report.asked, report.unanswered]).toEqual([8, 20, 0]);
});

test('a page goes on to further tenants until it is full, so that a dispute without an answer makes none silent', async () => {
  let answers = 0;
  const { pageFrom, report } = comparisonOf(tenants, async () => {
    answers += 1;
    return answers === 1 ? [] : [theirs];
  });
  const next = await pageFrom(null, 12);
  expect([report.asked, report.unanswered, next?.tenant]).toEqual([12, 1, 'ten_11']);
  expect([await pageFrom(next, 12), report.asked]).toEqual([null, 20]);
});

test('a position in a tenant that is not listed any more goes on with the tenants after it', async () => {
  const { pageFrom, report } = comparisonOf(['ten_a', 'ten_b', 'ten_d'], async () => [theirs]);
  const after = { id: 'dsp_1', createdAt: NOW.toISOString() };
  expect(await pageFrom({ tenant: 'ten_c', after, until: NOW.toISOString() }, 12)).toBeNull();
  expect(report.asked).toBe(1);
});

test('the comparison of a dispute whose provider is not configured any more has no answer, and ends', async () => {
  const comparison = reconciledDisputes({
    charges: { store: { find: async () => charge, get: async () => charge } },
    disputes: {
      store: {
        get: async () => dispute,
        applyFact: () => Promise.reject(new Error('x')),
        openOf: () => Promise.resolve([]),
      },
    },
    providers: {
      payments: [],
      payment: (name) => {
        throw new ProviderNotConfigured(name, 'payments');
      },
    },
  });
  const report = emptyReport();
  const breaks = { note: () => Promise.reject(new Error('nothing was compared')) };
  const run = { apply: true, takeTurn: async () => undefined, report, breaks };
  const key = { tenantId: 'ten_a', id: dispute._id };
  await comparison.reconcileAll(run, [key]);
  expect(await comparison.reconcileOne(run, key.tenantId, key.id)).toBe(true);
  expect([report.asked, report.unanswered]).toEqual([2, 2]);
});

test('a dispute whose outcome the provider leaves open agrees with its list once it is decided, either way, as long as refunds or other disputes explain the reversal', () => {
  const refunded = { ...charge, refunded_minor: charge.amount_minor };
  const inDoubt = { ...theirs, state: 'lost', byReversal: true } as const;
  const disputedMinor = (ours: Dispute) => (ours.status === 'won' ? 0n : AMOUNT);
  const besides = (other: bigint) => (ours: Dispute) => ({
    ...charge,
    disputed_minor: other + disputedMinor(ours),
  });
  const agreeing = (of: (ours: Dispute) => Charge) =>
    (['open', 'won', 'lost'] as const).filter((status) => {
      const ours = { ...dispute, status };
      return agrees({ charge: of(ours), ours, theirs: inDoubt });
    });
  const all = charge.amount_minor;
  expect(agreeing((ours) => ({ ...refunded, disputed_minor: disputedMinor(ours) }))).toEqual([
    'won',
    'lost',
  ]);
  expect(agreeing(besides(all))).toEqual(['won', 'lost']);
  expect(agreeing(besides(all - 1n))).toEqual(['lost']);
  expect(agreeing(besides(0n))).toEqual(['lost']);
});

test('a loss that was booked before the refunds of its charge were known is applied again, which calls an operator, without a break', async () => {
  const counted = { ...charge, disputed_minor: AMOUNT };
  const refunded = { ...counted, refunded_minor: charge.amount_minor };
  const ours: Dispute = { ...dispute, status: 'lost', funds: 'taken' };
  const inDoubt: TheirDispute = { ...theirs, state: 'lost', byReversal: true };
  for (const [of, calls] of [
    [refunded, 1],
    [counted, 0],
  ] as const) {
    const states: string[] = [];
    const comparison = reconciledDisputes({
      charges: { store: { find: async () => of, get: async () => of } },
      disputes: {
        store: {
          get: async () => ours,
          applyFact: async (_charge, _about, { state }) => {
            states.push(state);
            return { verdict: 'attention' };
          },
          openOf: async () => [],
        },
      },
      providers: {
        payments: [],
        payment: () =>
          ({
            findDisputes: async () => ({
              kind: 'page',
              items: [inDoubt],
              next: null,
              providerRequestId: null,
            }),
          }) as unknown as PaymentProvider,
      },
    });
    const report = emptyReport();
    const breaks = { note: async () => undefined };
    const run = { apply: true, takeTurn: async () => undefined, report, breaks };
    await comparison.reconcileOne(run, dispute.tenant_id, dispute._id);
    expect(states).toEqual(Array.from({ length: calls }, () => 'lost'));
    expect(report).toMatchObject({ asked: 1, differences: [] });
  }
});
