import { charges } from '../../src/capabilities/charges/record.js';
import { newRefund, refunds, type Refund } from '../../src/capabilities/refunds/record.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { emptySnapshot } from '../support/transfers.js';

const charge = transition(sent(pageCharge()), paid()).next;
const waiting: Refund = {
  ...newRefund(charge, {}, new Date()),
  amount_minor: 1_000n,
  status: 'processing',
  submissions: 1,
  provider_refund_id: 'rfnd_1',
};
const about = { tenantId: waiting.tenant_id, id: waiting._id };
const FIRST = { number: '0123456789', bank_code: '058' };
const SECOND = { number: '0123450000', bank_code: '058' };
const named = (account: typeof FIRST): AnyMutation => ({
  ...about,
  kind: 'nameRefundAccount',
  account,
  act: {
    id: 'act_1',
    actor: { operator: 'opr_1', name: 'ada', roles: [] },
    action: 'refunds.resume',
    target: waiting._id,
    tenantId: waiting.tenant_id,
    reason: 'the card is gone',
    requestId: null,
    approval: null,
  },
});
const forgotten = (account: typeof FIRST, refused: string | null): AnyMutation => ({
  ...about,
  kind: 'forgetRefundAccount',
  account,
  refused,
});

function after(...mutations: AnyMutation[]): Refund {
  const snapshot = emptySnapshot();
  snapshot.records.set(charges, charge);
  snapshot.records.set(refunds, waiting);
  const { state } = run(
    snapshot,
    mutations.map((each) => [each]),
  );
  return state.records.get(refunds, waiting._id) as Refund;
}

test('an account that the provider refuses is forgotten, and the operator sees which one by its last digits', () => {
  const refund = after(named(FIRST), forgotten(FIRST, 'refused'));
  expect(refund).toMatchObject({
    customer_account: null,
    attention: { reason: 'refused: ******6789 at the bank 058' },
  });
});

test('an account that an operator has named since the provider got another one stays', () => {
  for (const refused of ['refused', null]) {
    const refund = after(named(FIRST), named(SECOND), forgotten(FIRST, refused));
    expect(refund.customer_account).toEqual(SECOND);
    expect(refund.attention).toBeNull();
  }
});
