import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import { aboutAttempt, type Charge } from '../../src/capabilities/charges/record.js';
import { createDisputeReaders } from '../../src/capabilities/disputes/provider-calls.js';
import type {
  Dispute,
  PaymentProvider,
  Refund,
} from '../../src/core/providers/payment-provider.js';
import { newId } from '../../src/shared/ids.js';
import { paidCharge } from './facts.js';

const charge: Charge = paidCharge();
const reference = aboutAttempt(charge).reference;
const trace = { providerRequestId: null };
const refundOf = (of: string, state: Refund['state']): Refund => ({
  id: 'rfd_1',
  marker: newId('refund'),
  charge: { reference: of, handle: null },
  dispute: null,
  amountMinor: 1_000n,
  currency: 'NGN',
  state,
});

/**
 * Reads a reversed charge whose provider lists these refunds and disputes. Returns the facts about the charge and the disputes in the
 * order in which they are booked.
 */
async function read(
  refunds: readonly Refund[],
  theirs: readonly Dispute[] = [],
  mayCall?: () => Promise<boolean>,
  /** The state of the charge after its disputes were listed. */
  now: 'reversed' | 'pending' = 'reversed',
) {
  const calls: string[] = [];
  const facts: ChargeFact['kind'][] = [];
  const disputes: string[] = [];
  const page = { ...trace, kind: 'page', next: null } as const;
  const provider: Pick<PaymentProvider, 'findRefunds' | 'findDisputes' | 'verifyCharge'> = {
    verifyCharge: async () => {
      calls.push('charge');
      const open = { awaits: 'provider', redirect: null, lastDecline: null } as const;
      return { ...trace, ...open, kind: now };
    },
    findRefunds: async ({ newEnough, mayGoOn }) => {
      calls.push('refunds');
      expect(newEnough).toBeInstanceOf(Date);
      expect(await mayGoOn?.()).toBe(true);
      return { ...page, items: [...refunds] };
    },
    findDisputes: async () => {
      calls.push('disputes');
      return { ...page, items: [...theirs] };
    },
  };
  const readers = createDisputeReaders({
    charges: {
      applyFact: async (_charge, fact) => {
        facts.push(fact.kind);
        return { kind: 'stale' } as never;
      },
    },
    disputes: {
      applyFact: async (_charge, { providerDisputeId }) => {
        disputes.push(providerDisputeId);
        return { verdict: 'applied' };
      },
    },
    refunds: {
      recordDeskRefund: () => Promise.reject(new Error('no refund of the desk')),
      byProviderId: async () => null,
    },
    providers: { payment: () => provider as PaymentProvider },
  });
  await readers.readAfterVerify(charge, 'reversed', new AbortController().signal, mayCall);
  return { facts, disputes, calls };
}

test.each(['pending', 'needs_account'] as const)(
  'a reversal that nothing explains calls an operator although the list has a %s refund of another charge; one of this charge explains it',
  async (state) => {
    for (const other of [`${newId('charge')}-1`, '']) {
      expect((await read([refundOf(other, state)])).facts).toEqual(['taken_back']);
      const both = await read([refundOf(other, state), refundOf(reference, state)]);
      expect(both.facts).toEqual([]);
    }
  },
);

const lost = (id: string): Dispute => ({
  id,
  charge: { reference, handle: null },
  amountMinor: 1_000n,
  currency: 'NGN',
  state: 'lost',
  funds: 'with_us',
  reason: null,
  dueAt: null,
});

test('a dispute that is lost by the reversal is booked after the others, which may explain the reversal', async () => {
  const { disputes } = await read([], [{ ...lost('1'), byReversal: true }, lost('2'), lost('3')]);
  expect(disputes).toEqual(['2', '3', '1']);
});

test('a dispute that is or may be won after its charge was reported as reversed calls nobody, unless the charge is reversed still', async () => {
  for (const state of ['won', 'open'] as const) {
    const dispute = [{ ...lost('1'), state }];
    const paid = await read([], dispute, undefined, 'pending');
    expect(paid).toMatchObject({ facts: [], disputes: ['1'] });
    expect((await read([], dispute)).facts).toEqual(['taken_back']);
  }
  expect((await read([], [lost('1')])).calls).not.toContain('charge');
});

test('a reading asks before each call, and without an answer nothing is booked and nobody is called', async () => {
  const refused = await read([], [], () => Promise.resolve(false));
  expect(refused).toEqual({ facts: [], disputes: [], calls: [] });
  let asked = 0;
  const allowed = await read([], [], async () => (asked += 1) > 0);
  expect(allowed).toMatchObject({ facts: ['taken_back'], calls: ['refunds', 'disputes'] });
  // One of them for a further page of the list of refunds, which its adapter reads.
  expect(asked).toBe(3);
});
