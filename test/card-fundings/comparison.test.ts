import { fundingAgrees } from '../../src/capabilities/card-fundings/comparison.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import type { VerifyAnswer } from '../../src/core/providers/transfer-provider.js';
import { pendingFunding } from '../support/fundings.js';
import { NOW } from '../support/transfers.js';

const trace = { providerRequestId: null };
const moved = { ...trace, amountMinor: 300n, sessionId: null };
const answers: Record<string, VerifyAnswer> = {
  funded: { ...moved, kind: 'succeeded' },
  'funded, another amount': { ...moved, kind: 'succeeded', amountMinor: 299n },
  rejected: { ...trace, kind: 'rejected', code: 'funding_refused' },
  reversed: { ...moved, kind: 'reversed' },
  'reversed, another amount': { ...moved, kind: 'reversed', amountMinor: 299n },
  pending: { ...trace, kind: 'pending' },
  not_found: { ...trace, kind: 'not_found' },
};
const reversal = { type: 'fund_reversal', reverses_operation_id: 'cop_a', submissions: 1 } as const;

describe('the answers of the issuer that agree with a funding or its reversal; every other answer is a difference', () => {
  test.each<[of: string, record: Partial<CardOperation>, fits: string[]]>([
    ['open funding', { status: 'processing', submissions: 1 }, ['not_found', 'pending']],
    ['completed funding', { status: 'completed', completed_at: NOW }, ['funded']],
    ['failed funding', { status: 'failed' }, ['not_found', 'rejected']],
    ['reversed funding', { status: 'failed', reversed_at: NOW }, ['reversed']],
    [
      'just-in-time funding that missed its deadline, whose reversal is compared',
      {
        type: 'jit_fund',
        status: 'failed',
        submissions: 1,
        failure: { code: 'deadline_exceeded', message: '' },
      },
      Object.keys(answers).toSorted(),
    ],
    [
      'open reversal',
      { ...reversal, status: 'processing' },
      ['funded', 'funded, another amount', 'not_found', 'pending'],
    ],
    [
      'reversal that released the hold',
      { ...reversal, status: 'failed', reversed_at: NOW },
      ['not_found', 'rejected', 'reversed'],
    ],
    ['reversal that the issuer refused', { ...reversal, status: 'completed' }, ['funded']],
    [
      'reversal whose funding arrived later',
      { ...reversal, status: 'failed', in_suspense: true },
      ['funded'],
    ],
  ])('%s: %j', (_, changes, fits) => {
    const funding = pendingFunding(changes);
    const found = Object.entries(answers).filter(([, answer]) => fundingAgrees(funding, answer));
    expect(found.map(([name]) => name).toSorted()).toEqual(fits);
  });
});
