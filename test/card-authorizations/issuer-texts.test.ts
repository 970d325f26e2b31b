import { readCardMessage } from '../../src/core/providers/sandbox-bank/card-events.js';
import { presentAuthorization } from '../../src/capabilities/card-authorizations/presenter.js';
import { decideAuthorizationMutation, voidMutation } from '../support/authorizations.js';
import { after } from '../support/one-payment.js';

test.each([
  ['Mama Put 001', 'Mama Put 001'],
  ['Mama\u200b Put\u202e\u0000', 'Mama Put'],
  ['ATM 4111111111111111', 'ATM ****************'],
  ['ATM 4111\u00ad1111\u200b11111111 x', 'ATM **************** x'],
  ['ATM 3056 930902 5904', 'ATM **** ****** ****'],
])('the name of a merchant has no card number and no invisible character: %j', (name, shown) => {
  const requested = { merchant: { name, category: '5812', country: 'NG' } };
  for (const mutation of [decideAuthorizationMutation(requested), voidMutation(requested)]) {
    const { one } = after([mutation]);
    expect(one.merchant).toEqual({ ...requested.merchant, name: shown });
    expect(presentAuthorization(one).merchant?.name).toBe(shown);
  }
});

test.each([
  [undefined, 'no_answer'],
  ['no_answer', 'no_answer'],
  ['withdrawn', 'withdrawn'],
  ['card_closed', 'card_closed'],
  ['card 4111111111111111', 'provider_declined'],
  ['ask Ada Obi', 'provider_declined'],
])('the code of a decline that the issuer reports is one of ours: %s', (code, ours) => {
  const data = {
    reference: 't',
    message_id: 'm',
    card: 'c',
    amount_minor: 1,
    currency: 'NGN',
    code,
  };
  const message = { id: 'e', event: 'card.declined', occurred_at: '2026-11-21T09:00:00Z', data };
  expect(readCardMessage(message, () => 'hash')).toMatchObject({
    kind: 'event',
    event: { state: { state: { kind: 'declined', code: ours } } },
  });
});
