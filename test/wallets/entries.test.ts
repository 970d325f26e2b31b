import { presentEntry } from '../../src/capabilities/wallets/presenter.js';
import { ENTRY_TYPES, postingIds } from '../../src/capabilities/wallets/schema.js';

const at = new Date('2026-11-21T09:30:00Z');
const entry = (id: string, available: bigint, held: bigint) =>
  presentEntry({
    _id: id,
    tenant_id: 'ten_a',
    at,
    legs: [
      { account: 'wallet:ten_a:available', amount_minor: available },
      { account: 'wallet:ten_a:held', amount_minor: held },
      { account: 'clearing:sandbox-bank', amount_minor: -available - held },
    ],
  });

describe('an entry of the statement', () => {
  test.each([
    ['trf_01/hold', -110n, 110n, 'transfer', 'hold', 'trf_01'],
    ['trf_01/resolve', 110n, -110n, 'transfer', 'release', 'trf_01'],
    ['trf_01/resolve', 30n, -110n, 'transfer', 'capture', 'trf_01'],
    ['chg_01/credit', 300n, 0n, 'charge', 'credit', 'chg_01'],
    ['ref_01/reversal', 300n, 0n, 'refund', 'reversal', 'ref_01'],
    // The unloading of a closed card: its hold was of the card.
    ['cop_01/resolve', 300n, 0n, 'card_funding', 'balance_return', 'cop_01'],
    ['crd_01/balance-return-7', 300n, 0n, 'card', 'balance_return', 'crd_01'],
    ['credit/ten_a/order/7', 300n, 0n, 'credit', 'credit', null],
    ['xyz_01/adjustment', 300n, 0n, 'other', 'adjustment', 'xyz_01'],
  ] as const)('%s with %d and %d is a %s, %s', (id, available, held, type, movement, resource) => {
    expect(entry(id, available, held)).toEqual({
      id,
      type,
      movement,
      amount_minor: Number(available),
      currency: 'NGN',
      resource,
      created_at: at.toISOString(),
    });
  });

  test('has exactly one type', () => {
    for (const id of ['trf_01/hold', 'credit/ten_a/1', 'xyz_01/fee', 'aut_01/hold', 'bil_1/hold']) {
      expect(ENTRY_TYPES.filter((type) => postingIds(type).test(id))).toHaveLength(1);
    }
  });
});
