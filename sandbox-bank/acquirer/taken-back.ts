import type { Charge } from './charge-state.js';
import type { AcquirerState } from './state.js';

/** True if everything that was paid was taken back at the acquirer: by its desk, or by disputes. */
export function takenBack({ refunds, disputes }: AcquirerState, charge: Charge): boolean {
  const { reference } = charge.order;
  const atDesk = refunds
    .ofCharge(reference)
    .filter(({ status, order }) => status === 'refunded' && order.merchant_note.startsWith('desk-'))
    .map(({ order }) => order.amount_minor);
  const disputed = disputes
    .ofCharge(reference)
    .filter(({ status, funds }) => status === 'lost' || (status === 'opened' && funds === 'taken'))
    .map(({ amountMinor }) => amountMinor);
  const takenMinor = [...atDesk, ...disputed].reduce((sum, minor) => sum + minor, 0);
  return charge.paidMinor !== null && takenMinor >= charge.paidMinor;
}
