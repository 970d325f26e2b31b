import { charges, type Charge } from '../../src/capabilities/charges/record.js';
import { checkCharge } from '../../src/capabilities/refunds/audit.js';
import { refunds } from '../../src/capabilities/refunds/record.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { newId } from '../../src/shared/ids.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { run } from '../support/decisions.js';
import { emptySnapshot } from '../support/transfers.js';

const ASKED = 30_050n;
const PAID = 40_333n;
const charge = transition(
  sent(pageCharge({ amount_minor: ASKED })),
  paid({ amountMinor: ASKED, surchargeMinor: PAID - ASKED, feeMinor: null }),
).next;

/** Records refunds of the provider's desk with these amounts. Returns the problems of the audit, and who is called. */
function refunded(...amounts: readonly bigint[]) {
  const snapshot = emptySnapshot();
  snapshot.records.set(charges, charge);
  snapshot.wallets.set('ten_a', { ...emptyWallet('ten_a'), availableMinor: 1_000_000n });
  const { state } = run(
    snapshot,
    amounts.map((amountMinor) => {
      const id = newId('refund');
      const about = { tenantId: 'ten_a', id, charge: charge._id, attempt: 1 };
      return [{ kind: 'recordDeskRefund', ...about, providerRefundId: id, amountMinor }];
    }),
  );
  const present = state.records.get(charges, charge._id) as Charge;
  const reasons = state.records.all(refunds).map(({ attention }) => attention?.reason ?? null);
  return { reasons, problems: checkCharge(present, present.refunded_minor, 0n) };
}

test('a refund of a payment with its surcharge is in order, in one part or several', () => {
  expect(refunded(PAID)).toEqual({ reasons: [null], problems: [] });
  expect(refunded(ASKED, PAID - ASKED)).toEqual({ reasons: [null, null], problems: [] });
});

test('a refund beyond the payment and its surcharge calls an operator, and the audit finds it', () => {
  const beyond = expect.stringContaining('beyond the amount');
  const problems = [expect.stringContaining('refunded beyond its amount')];
  expect(refunded(PAID + 1n)).toEqual({ reasons: [beyond], problems });
  expect(refunded(PAID, 1n)).toEqual({ reasons: [null, beyond], problems });
});
