import { charges, type Charge } from '../../src/capabilities/charges/record.js';
import { paymentTokens, type PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { customer, pageCharge } from '../support/charge-facts.js';
import { run } from '../support/decisions.js';
import { paymentToken } from '../support/recurring.js';
import { emptySnapshot } from '../support/transfers.js';

const ofPublicKey: Partial<PaymentToken> = { customer, made_by: 'public_key' };
const ofSecretKey: Partial<PaymentToken> = { customer };
const unbound = { status: 'unbound', authorization: null } as const;
const anothers = { customer: { ...customer, id: 'x' } };

const withToken = (some: PaymentToken) => {
  const snapshot = emptySnapshot();
  snapshot.records.set(paymentTokens, some);
  return snapshot;
};
const acceptOfPublicKey = (charge: Charge) =>
  ({
    kind: 'acceptCharge',
    tenantId: charge.tenant_id,
    id: charge._id,
    charge,
    mayChangeCustomer: false,
    claim: null,
    answer: { status: 201, body: charge._id },
  }) as const;

test.each<[string, Partial<PaymentToken> | null]>([
  ['a token that does not exist', null],
  ['another tenant’s token', { ...ofPublicKey, tenant_id: 'ten_b' }],
  ['an unbound token of a secret key', { ...ofSecretKey, ...unbound }],
  ['a bound token of a secret key', ofSecretKey],
  ['another customer’s token of a secret key', { ...ofSecretKey, ...anothers }],
  ['another customer’s token', { ...ofPublicKey, ...anothers }],
  [
    'a token of another e-mail address',
    { ...ofPublicKey, customer: { ...customer, email: 'old@example.com' } },
  ],
  ['a revoked token', { ...ofPublicKey, status: 'revoked', authorization: null }],
])('a public key gets one answer for %s, and nothing is accepted or changed', (_what, changes) => {
  const some = paymentToken(changes ?? {});
  const charge = pageCharge({ payment_token_id: some._id });
  const snapshot = changes === null ? emptySnapshot() : withToken(some);
  const { outcomes, state } = run(snapshot, [[acceptOfPublicKey(charge)]]);
  expect(outcomes).toMatchObject([{ answer: { status: 404 } }]);
  expect(JSON.parse(String(JSON.parse(JSON.stringify(outcomes))[0].answer.body))).toEqual({
    success: false,
    error: {
      code: 'not_found',
      message: 'There is no such payment token that a public key may use.',
      status: 404,
      field: 'payment_token_id',
    },
  });
  expect(state.records.all(charges)).toEqual([]);
  expect(state.records.get(paymentTokens, some._id)).toEqual(changes === null ? undefined : some);
});

test.each([unbound, { status: 'active' } as const])(
  'a public key pays with a token that a public key made: %j',
  (changes) => {
    const own = paymentToken({ ...ofPublicKey, ...changes });
    const charge = pageCharge({ payment_token_id: own._id });
    const { state } = run(withToken(own), [[acceptOfPublicKey(charge)]]);
    expect(state.records.all(charges)).toHaveLength(1);
  },
);
