import { readAll } from '../../core/providers/pages.js';
import type {
  Dispute as TheirDispute,
  PaymentProvider,
  Refund as TheirRefund,
} from '../../core/providers/payment-provider.js';
import { isId } from '../../shared/ids.js';
import { aboutAttempt, type Charge } from '../charges/charge.js';
import type { Charges } from '../charges/index.js';
import type { Refunds } from '../refunds/index.js';
import { reasonIn } from './provider-events.js';
import type { Disputes } from './store.js';

type Deps = {
  charges: Pick<Charges, 'applyFact'>;
  disputes: Pick<Disputes, 'applyFact'>;
  refunds: Pick<Refunds, 'recordDeskRefund'>;
  providers: { payment(name: string): PaymentProvider };
};

/** Reads from its provider how the money of a charge was taken back, and books it. */
export type ReadTakenBack = ReturnType<typeof createTakenBackReader>;

/**
 * Creates the reader of a charge that its provider reports as reversed: the refunds of the provider's desk and the disputes
 * of the charge are booked, each once. A payment that was not known before is booked first, if they make up its amount.
 */
export function createTakenBackReader({ charges, disputes, refunds, providers }: Deps) {
  return async (charge: Charge, signal: AbortSignal): Promise<void> => {
    const provider = providers.payment(charge.provider);
    const about = { ...aboutAttempt(charge), since: charge.created_at };
    const [refunded, disputed] = await Promise.all([
      readAll((cursor) => provider.findRefunds({ ...about, cursor }, signal)),
      readAll((cursor) => provider.findDisputes({ ...about, cursor }, signal)),
    ]);
    if (refunded.kind !== 'all' || disputed.kind !== 'all') return;
    const made = refunded.items.filter((refund) => isDeskRefundOf(charge, refund));
    const source = {
      via: 'poll',
      actor: null,
      note: null,
      providerRequestId: refunded.providerRequestId,
    } as const;
    const takenMinor = sumOf(made) + sumOf(disputed.items.filter(({ state }) => state !== 'won'));
    if (charge.status !== 'completed' && takenMinor === charge.amount_minor) {
      await charges.applyFact(charge, {
        ...source,
        attempt: charge.attempt,
        kind: 'succeeded',
        amountMinor: takenMinor,
        surchargeMinor: 0n,
        currency: charge.currency,
        feeMinor: null,
        method: null,
      });
    }
    for (const { id, amountMinor } of made) {
      const { attempt } = charge;
      if (id === null) continue;
      await refunds.recordDeskRefund(charge, { attempt, providerRefundId: id, amountMinor });
    }
    for (const dispute of disputed.items) {
      const { amountMinor, currency, state, funds, dueAt } = dispute;
      const fact = { ...source, amountMinor, currency, state, funds, dueAt };
      await disputes.applyFact(
        charge,
        { attempt: charge.attempt, providerDisputeId: dispute.id },
        { ...fact, reason: reasonIn(dispute) },
      );
    }
  };
}

/** True for a refund of this charge that was made at the provider's own desk, and is no dispute's money. */
const isDeskRefundOf = (charge: Charge, refund: TheirRefund): boolean =>
  refund.charge.reference === aboutAttempt(charge).reference &&
  refund.state === 'succeeded' &&
  refund.dispute === null &&
  (refund.marker === null || !isId('refund', refund.marker));

const sumOf = (all: readonly Pick<TheirDispute, 'amountMinor'>[]): bigint =>
  all.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
