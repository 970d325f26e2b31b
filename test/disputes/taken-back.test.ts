import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import { aboutAttempt, type Charge } from '../../src/capabilities/charges/record.js';
import { createDisputeReaders } from '../../src/capabilities/disputes/provider-calls.js';
import type { PaymentProvider, Refund } from '../../src/core/providers/payment-provider.js';
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

/** Reads a reversed charge whose provider lists these refunds and no dispute. Returns the facts about the charge. */
async function read(refunds: readonly Refund[]) {
  const facts: ChargeFact['kind'][] = [];
  const page = { ...trace, kind: 'page', next: null } as const;
  const provider: Pick<PaymentProvider, 'findRefunds' | 'findDisputes'> = {
    findRefunds: async () => ({ ...page, items: [...refunds] }),
    findDisputes: async () => ({ ...page, items: [] }),
  };
  const readers = createDisputeReaders({
    charges: {
      applyFact: async (_charge, fact) => {
        facts.push(fact.kind);
        return { kind: 'stale' } as never;
      },
    },
    disputes: { applyFact: () => Promise.reject(new Error('no dispute')) },
    refunds: {
      recordDeskRefund: () => Promise.reject(new Error('no refund of the desk')),
      byProviderId: async () => null,
    },
    providers: { payment: () => provider as PaymentProvider },
  });
  await readers.readAfterVerify(charge, 'reversed', new AbortController().signal);
  return facts;
}

test.each(['pending', 'needs_account'] as const)(
  'a reversal that nothing explains calls an operator although the list has a %s refund of another charge; one of this charge explains it',
  async (state) => {
    for (const other of [`${newId('charge')}-1`, '']) {
      expect(await read([refundOf(other, state)])).toEqual(['taken_back']);
      expect(await read([refundOf(other, state), refundOf(reference, state)])).toEqual([]);
    }
  },
);
