import {
  applied,
  sourceOf,
  unknownReference,
  type NewFact,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import type {
  Dispute as TheirDispute,
  PaymentEvent,
} from '../../core/providers/payment-provider.js';
import { readAttempt } from '../charges/record.js';
import type { Charges } from '../charges/index.js';
import type { DisputeStatus } from './record.js';
import type { Disputes } from './store.js';
import type { DisputeFact } from './transitions.js';

type Deps = {
  charges: { store: Pick<Charges, 'find'> };
  disputes: { store: Pick<Disputes, 'applyFact'> };
};

/** Applies the events of payment providers to disputes. Their charge is found by our reference of the attempt. */
export const disputeEventHandler = ({ charges, disputes }: Deps): ProviderEventHandler => ({
  port: 'payments',
  subjects: ['dispute'],
  toFacts(event) {
    const { about } = event as PaymentEvent;
    return about.subject === 'dispute' ? [toStored(about.dispute, about.reminds === true)] : [];
  },
  async apply(stored, event) {
    const attempt = stored.reference === null ? null : readAttempt(stored.reference);
    const charge = attempt && (await charges.store.find(attempt.id));
    if (charge?.provider !== event.provider) return unknownReference(true);
    const providerDisputeId = String(stored.state['dispute']);
    const about = { attempt: attempt?.attempt ?? 0, providerDisputeId };
    const { verdict } = await disputes.store.applyFact(charge, about, toFact(stored, event));
    // The message of the payment itself may come later.
    return verdict === 'not_booked' ? unknownReference(true) : applied(verdict);
  },
});

const toStored = (dispute: TheirDispute, reminds: boolean): NewFact => ({
  subject: 'dispute',
  reference: dispute.charge.reference,
  state: {
    kind: dispute.state,
    dispute: dispute.id,
    amount_minor: dispute.amountMinor,
    currency: dispute.currency,
    funds: dispute.funds,
    reason: reasonIn(dispute),
    due_at: dispute.dueAt,
    ...(reminds && { reminds }),
    ...(dispute.byReversal === true && { by_reversal: true }),
  },
});

/** The reason is shown to tenants and stored, so it must be a word, and no text of the provider. */
export const reasonIn = ({ reason }: Pick<TheirDispute, 'reason'>): string | null =>
  reason !== null && /^[a-z][a-z0-9_-]{0,59}$/.test(reason) ? reason : null;

function toFact({ state }: OpenFact, event: ProviderEvent): DisputeFact {
  return {
    ...sourceOf(event),
    state: state.kind as DisputeStatus,
    amountMinor: (state['amount_minor'] as bigint | null) ?? 0n,
    currency: String(state['currency']),
    funds: state['funds'] as DisputeFact['funds'],
    reason: state['reason'] as string | null,
    dueAt: state['due_at'] as Date | null,
    ...(state['reminds'] === true && { reminds: true }),
    ...(state['by_reversal'] === true && { byReversal: true }),
  };
}
