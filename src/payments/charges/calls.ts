import type {
  ChargeAnswer,
  PaymentProvider,
  VerifyChargeAnswer,
} from '../../providers/payment-provider.js';
import type { Absence } from '../../providers/provider.js';
import type { Heard } from '../../pursuits/heard.js';
import { isOpen } from '../../pursuits/record.js';
import type { Tokens } from '../tokens/store.js';
import { attemptReference, type Charge } from './charge.js';
import type { ChargeFact } from './facts.js';
import type { Charges } from './store.js';

type Deps = {
  charges: Pick<Charges, 'applyFact' | 'requireAction'>;
  tokens: Pick<Tokens, 'get'>;
  providers: { payment(name: string): PaymentProvider };
  clock?: () => Date;
};

export type ChargeCalls = ReturnType<typeof createChargeCalls>;

/**
 * How charges are told to their provider and asked about. What ends one is booked here at once, for what comes with a
 * payment (the customer's authorization) may enter no workflow's history: workflows hear what it came to.
 */
export function createChargeCalls({ charges, tokens, providers, clock = () => new Date() }: Deps) {
  const ref = (charge: Charge) => attemptReference(charge);

  function orderOf(charge: Charge, requestedAt: Date) {
    return {
      reference: ref(charge),
      clientReference: charge.reference,
      amountMinor: charge.amount_minor,
      currency: charge.currency,
      customer: charge.customer,
      requestedAt,
    };
  }

  const tokenOf = async ({ tenant, payment_token: id }: Charge) =>
    id === null ? null : tokens.get(tenant, id);

  /** A page for the customer. */
  async function open(charge: Charge, requestedAt: Date, signal: AbortSignal): Promise<Heard> {
    const token = await tokenOf(charge);
    const channel =
      token?.type === 'bank_account' && token.account_number && token.bank_code
        ? {
            type: 'bank_account' as const,
            account: token.account_number,
            bankCode: token.bank_code,
          }
        : { type: 'card' as const };
    const order = { ...orderOf(charge, requestedAt), channel, returnUrl: charge.return_url };
    const answer = await providers.payment(charge.provider).initializeCharge(order, signal);
    if (answer.kind === 'redirect') {
      const { url, providerRequestId } = answer;
      const now = await charges.requireAction(charge, url, providerRequestId);
      return { kind: 'pending', providerRequestId, report: customersTurn(now ?? charge) };
    }
    if (answer.kind !== 'refused') return answer;
    return hear(charge, { ...answer, decline: 'hard' }, 'provider_answer');
  }

  /** Charges what the customer has left with the provider. */
  async function charge(order: Charge, requestedAt: Date, signal: AbortSignal): Promise<Heard> {
    const token = await tokenOf(order);
    if (token?.status !== 'active' || token.authorization === null) {
      const revoked = { kind: 'refused', code: 'token_revoked', decline: 'hard' } as const;
      return hear(order, { ...revoked, providerRequestId: null }, 'provider_answer');
    }
    const answer = await providers
      .payment(order.provider)
      .chargeAuthorization(
        { ...orderOf(order, requestedAt), authorization: token.authorization },
        signal,
      );
    return hear(order, answer, 'provider_answer');
  }

  /** Books what the provider said, and answers what that came to. */
  async function hear(
    before: Charge,
    answer: ChargeAnswer | VerifyChargeAnswer,
    via: 'provider_answer' | 'poll',
  ): Promise<Heard> {
    const { providerRequestId } = answer;
    const fact = toFact(before, answer, via, clock());
    if (fact === null) return stillOpen(before, answer);
    const outcome = await charges.applyFact(before, fact);
    const after = outcome.kind === 'fact' ? outcome.charge : before;
    if (answer.kind === 'paid') {
      const { amountMinor } = answer;
      const paid = { kind: 'paid', amountMinor, sessionId: null, providerRequestId } as const;
      if (after.status === 'completed') return paid;
      const attention = after.attention?.reason ?? 'the payment is not as it was asked for';
      return { ...paid, report: { kind: 'disputed', attention } };
    }
    if (!isOpen(after)) {
      const code = after.failure?.code ?? fact.kind;
      return { kind: 'refused', code, providerRequestId };
    }
    return { kind: 'pending', providerRequestId, ...(after.sends === 0 && { report: 'unsent' }) };
  }

  function stillOpen(before: Charge, answer: ChargeAnswer | VerifyChargeAnswer): Heard {
    switch (answer.kind) {
      case 'pending': {
        const { providerRequestId } = answer;
        const heard = { kind: 'pending', providerRequestId } as const;
        if (before.expires_at === null) return heard;
        // A page whose address never reached us is as good as none: it may be asked for again.
        if (before.next_action === null) return { ...heard, kind: 'not_found' };
        return { ...heard, report: customersTurn(before, answer.awaits) };
      }
      case 'not_found':
      case 'throttled':
      case 'unknown':
        return answer;
      default:
        return { kind: 'pending', providerRequestId: answer.providerRequestId };
    }
  }

  /** Nobody is late: it is asked about slowly, and once more when the customer's time is over. */
  function customersTurn({ expires_at: at }: Charge, awaits: 'customer' | 'provider' = 'customer') {
    const leftMs = at === null ? 1 : Math.max(1, at.getTime() - clock().getTime());
    return {
      kind: 'pending',
      untilMs: leftMs,
      ...(awaits === 'customer' && { idle: true }),
    } as const;
  }

  return {
    absenceOf: ({ capture_mode: mode, provider }: Charge): Absence =>
      // A page moves no money by itself.
      mode === 'customer_action_required'
        ? { kind: 'deduplicates' }
        : providers.payment(provider).payments.charges,

    send: (order: Charge, requestedAt: Date, signal: AbortSignal): Promise<Heard> =>
      (order.capture_mode === 'merchant_initiated' ? charge : open)(order, requestedAt, signal),

    async verify(asked: Charge, signal: AbortSignal): Promise<Heard> {
      const provider = providers.payment(asked.provider);
      return hear(asked, await provider.verifyCharge(ref(asked), signal), 'poll');
    },
  };
}

/** What an answer proves; null where it ends nothing. */
function toFact(
  charge: Charge,
  answer: ChargeAnswer | VerifyChargeAnswer,
  via: 'provider_answer' | 'poll',
  now: Date,
): ChargeFact | null {
  const { providerRequestId } = answer;
  const { attempt, expires_at: expiresAt } = charge;
  const origin = { via, actor: null, providerRequestId, note: null, attempt };
  switch (answer.kind) {
    case 'paid': {
      const { kind, amountMinor, currency, feeMinor, authorization } = answer;
      return { ...origin, kind, amountMinor, currency, feeMinor, authorization };
    }
    case 'refused':
      return { ...origin, kind: 'refused', code: answer.code, decline: answer.decline };
    case 'abandoned':
      return { ...origin, kind: 'abandoned' };
    case 'pending':
    case 'not_found': {
      const over = via === 'poll' && expiresAt !== null && expiresAt <= now;
      return over && isOpen(charge) ? { ...origin, kind: 'expired' } : null;
    }
    case 'throttled':
    case 'unknown':
      return null;
  }
}
