import type { Card } from '../../src/capabilities/cards/record.js';
import { transitionIssuance, type IssuanceFact } from '../../src/capabilities/cards/transitions.js';
import { newOperation, type CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { byProvider, NOW } from '../support/transfers.js';

const requested = (changes: Partial<CardOperation> = {}): CardOperation => ({
  ...newOperation(
    { _id: 'cop_1', tenant_id: 'ten_a', card_id: 'crd_1', type: 'issue', provider: 'issuer' },
    NOW,
    'accepted',
  ),
  status: 'processing',
  submissions: 1,
  ...changes,
});

/** The fields of a card that its issuance depends on. */
const unissued = { _id: 'crd_1', status: 'pending', issued: null } as Card;
const face = {
  card: 'c_1',
  brand: 'verve',
  last4: '4242',
  expiryMonth: 1,
  expiryYear: 2030,
  needsActivation: false,
};
const issuedFace = {
  issuer_card_id: 'c_1',
  brand: 'verve',
  last4: '4242',
  expiry_month: 1,
  expiry_year: 2030,
};

const issued: IssuanceFact = { ...byProvider, kind: 'issued', ...face };
const refused: IssuanceFact = { ...byProvider, kind: 'rejected', code: 'not_eligible' };
const paid: IssuanceFact = {
  ...byProvider,
  kind: 'succeeded',
  amountMinor: null,
  sessionId: 'c_1',
};
const confirmed: IssuanceFact = {
  ...byProvider,
  kind: 'operator_confirmed',
  via: 'operator',
  actor: 'ada',
};
const failedByOperator: IssuanceFact = {
  ...refused,
  code: 'operator',
  via: 'operator',
  actor: 'ada',
};

/** Applies facts in sequence; returns the verdicts and the resulting records. */
function after(facts: IssuanceFact[], first = requested()) {
  let operation = first;
  let card = unissued;
  const verdicts = facts.map((fact) => {
    const transition = transitionIssuance(operation, card, fact, NOW);
    operation = transition.operation;
    card = { ...card, ...transition.card };
    return transition.verdict;
  });
  return { verdicts, operation, card };
}

describe('the transitions of a card’s issuance', () => {
  test('an issued card is active with the issuer’s data, and a repeat changes nothing', () => {
    const { verdicts, operation, card } = after([issued, issued, paid]);
    expect(verdicts).toEqual(['applied', 'unchanged', 'unchanged']);
    expect(card).toMatchObject({ status: 'active', issued: issuedFace });
    expect(operation).toMatchObject({ status: 'completed', next_check_at: null, attention: null });
  });

  test('a report of issuance without the card’s data is not applied', () => {
    const { verdicts, operation } = after([paid]);
    expect(verdicts).toEqual(['stale']);
    expect(operation.status).toBe('processing');
  });

  test('a card that the issuer rejects has failed, with the reason', () => {
    const { verdicts, operation, card } = after([refused, refused]);
    expect(verdicts).toEqual(['applied', 'unchanged']);
    expect(operation).toMatchObject({ status: 'failed', next_check_at: null });
    expect(card).toMatchObject({ status: 'failed', failure: { code: 'not_eligible' } });
  });

  test('another card for the same request, or a rejection of an issued card, raises attention', () => {
    for (const fact of [{ ...issued, card: 'c_2' }, refused]) {
      const { verdicts, operation, card } = after([issued, fact, fact]);
      expect(verdicts).toEqual(['applied', 'attention', 'unchanged']);
      expect(card).toMatchObject({ status: 'active', issued: issuedFace });
      expect(operation.attention).not.toBeNull();
      expect(operation.next_check_at).not.toBeNull();
      expect(after([confirmed], operation).verdicts).toEqual(['stale']);
    }
  });

  test('an issuance failed by force is monitored, and a card that appears later is usable only after an operator confirms it', () => {
    const given = after([failedByOperator]);
    expect(given.operation).toMatchObject({ status: 'failed' });
    expect(given.operation.monitor_until).not.toBeNull();

    const { verdicts, operation, card } = after([failedByOperator, issued]);
    expect(verdicts).toEqual(['applied', 'attention']);
    expect(card).toMatchObject({ status: 'failed', issued: issuedFace });
    expect(operation.attention).not.toBeNull();

    const confirmedLater = after([failedByOperator, issued, confirmed, confirmed]);
    expect(confirmedLater.verdicts.slice(2)).toEqual(['applied', 'unchanged']);
    expect(confirmedLater.card).toMatchObject({ status: 'active', failure: null });
    expect(confirmedLater.operation).toMatchObject({
      status: 'completed',
      attention: null,
      next_check_at: null,
    });
  });

  test('a report of the issuer that no card exists ends the monitoring', () => {
    const { verdicts, operation } = after([failedByOperator, refused]);
    expect(verdicts).toEqual(['applied', 'applied']);
    expect(operation).toMatchObject({ monitor_until: null, next_check_at: null, status: 'failed' });
  });

  test('an issuance that was not submitted can be failed only until its first submission', () => {
    const unforced: IssuanceFact = { ...failedByOperator, ifNotSubmitted: true };
    expect(after([unforced]).verdicts).toEqual(['stale']);
    const { operation } = after([unforced], requested({ status: 'pending', submissions: 0 }));
    expect(operation).toMatchObject({ status: 'failed', monitor_until: null });
  });
});
