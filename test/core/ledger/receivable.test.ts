import { payReceivable } from '../../../src/core/ledger/receivable.js';

test('the receivable is paid first, never beyond what is owed, and no part of the money is lost', () => {
  for (let receivableMinor = 0n; receivableMinor <= 12n; receivableMinor += 1n) {
    for (let amountMinor = 0n; amountMinor <= 12n; amountMinor += 1n) {
      const { repaidMinor, restMinor } = payReceivable({ receivableMinor }, amountMinor);
      expect(repaidMinor + restMinor).toBe(amountMinor);
      expect(repaidMinor).toBeLessThanOrEqual(receivableMinor);
      expect(repaidMinor).toBeGreaterThanOrEqual(0n);
      expect(restMinor).toBeGreaterThanOrEqual(0n);
      expect(restMinor === 0n || repaidMinor === receivableMinor).toBe(true);
    }
  }
});
