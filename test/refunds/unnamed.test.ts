import { charges } from '../../src/capabilities/charges/record.js';
import { refunds, type Refund } from '../../src/capabilities/refunds/record.js';
import { createRefunds } from '../../src/capabilities/refunds/store.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { newId } from '../../src/shared/ids.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { emptySnapshot } from '../support/transfers.js';

const charge = transition(sent(pageCharge()), paid()).next;

/** Records a refund of the provider's desk while this open refund has its charge and amount. */
async function recordBeside(
  open: string | null,
  { amountMinor = 1_000n, availableMinor = 500_000n } = {},
) {
  const asked: object[] = [];
  const snapshot = emptySnapshot();
  snapshot.records.set(charges, charge);
  snapshot.wallets.set('ten_a', { ...emptyWallet('ten_a'), availableMinor });
  let recorded: Refund | undefined;
  const findOne = async (filter: object) => {
    asked.push(filter);
    return open === null ? null : { _id: open };
  };
  const commit = async (_mutation: unknown, input: object) => {
    const done = run(snapshot, [[{ kind: 'recordDeskRefund', ...input } as AnyMutation]]);
    [recorded] = done.state.records.all(refunds);
    return done.outcomes[0];
  };
  const db = { db: { collection: () => ({ findOne }) } } as never;
  const store = createRefunds(db, { commit } as never, 1_000);
  const made = { attempt: 1, providerRefundId: '4711', amountMinor };
  expect(await store.recordDeskRefund(charge, made)).toBe('recorded');
  return { asked, reason: recorded?.attention?.reason ?? null };
}

test('a refund without our note beside an open one of its charge and amount that the provider has not named calls an operator, who is told both', async () => {
  const ours = newId('refund');
  const { asked, reason } = await recordBeside(ours);
  expect(reason).toContain('4711');
  expect(reason).toContain(ours);
  expect(asked).toEqual([
    {
      tenant_id: charge.tenant_id,
      charge_id: charge._id,
      amount_minor: 1_000n,
      status: { $in: ['pending', 'processing'] },
      submissions: { $gt: 0 },
      provider_refund_id: null,
    },
  ]);
  expect((await recordBeside(null)).reason).toBeNull();
});

test.each([
  ['the wallet cannot cover', { availableMinor: 999n }, 'the tenant owes the rest'],
  ['is beyond the charge', { amountMinor: 400_000n }, 'beyond the amount of the charge'],
])('such a refund that %s tells an operator both', async (_, given, other) => {
  const { reason } = await recordBeside(newId('refund'), given);
  expect(reason).toContain('has no note of ours');
  expect(reason).toContain(other);
});
