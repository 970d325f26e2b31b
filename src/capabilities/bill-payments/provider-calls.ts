import { failpoint } from '../../shared/failpoints.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import type {
  BillProvider,
  BillReceipt,
  BillSubmitAnswer,
  BillVerifyAnswer,
} from '../../core/providers/bill-provider.js';
import type { ResendSafety } from '../../core/providers/port.js';
import { aboutOf } from '../../core/instructions/instruction.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import { tokenPlace, type BillPayment, type StoredReceipt } from './record.js';
import type { BillPayments } from './store.js';

/** Seals and opens the tokens of receipts. */
export type Receipts = ReturnType<typeof createReceipts>;

/** Creates the seal of receipts. A token opens for its own payment alone. */
export const createReceipts = (sealing: Sealing) => ({
  seal: (id: string, { token, units }: BillReceipt): StoredReceipt => ({
    sealed_token: token === null ? null : sealing.seal(token, tokenPlace(id)),
    units,
  }),

  /** The token in clear; null if the payment has none, or if no present key opens it. */
  tokenOf({ _id: id, receipt }: Pick<BillPayment, '_id' | 'receipt'>): string | null {
    const sealed = receipt?.sealed_token ?? null;
    return sealed === null ? null : sealing.open(sealed, tokenPlace(id));
  },
});

type Deps = {
  payments: Pick<BillPayments, 'applyFact'>;
  providers: { bill(name: string): BillProvider };
  receipts: Receipts;
};

/** The calls to the providers of bill payments. */
export type BillPaymentCalls = ReturnType<typeof createBillPaymentCalls>;

/**
 * Creates the provider calls of bill payments. A payment with a receipt is committed here, because the token must not enter
 * a workflow's history: workflows get the result alone, and applying it again changes nothing.
 */
export function createBillPaymentCalls({ payments, providers, receipts }: Deps) {
  async function recordReceipt(
    { _id: id, tenant_id: tenantId }: BillPayment,
    answer: BillSubmitAnswer | BillVerifyAnswer,
    via: 'provider_answer' | 'poll',
  ): Promise<ProviderOutcome> {
    if (answer.kind !== 'succeeded' || answer.receipt === null) return outcomeOf(answer);
    const { kind, amountMinor, providerRequestId } = answer;
    const receipt = receipts.seal(id, answer.receipt);
    const source = { via, actor: null, providerRequestId, note: null };
    failpoint('bill.answered');
    const fact = { ...source, kind, amountMinor, sessionId: null, receipt };
    await payments.applyFact(tenantId, id, fact);
    return outcomeOf(answer);
  }

  return {
    resendSafetyOf: ({ provider }: BillPayment): ResendSafety =>
      providers.bill(provider).bills.resendSafety,

    async submit(payment: BillPayment, requestedAt: Date, signal: AbortSignal) {
      const request = {
        reference: payment._id,
        clientReference: payment.reference,
        billerId: payment.biller_id,
        itemId: payment.item_id,
        customerReference: payment.customer_reference,
        amountMinor: payment.amount_minor,
        currency: payment.currency,
        requestedAt,
      };
      const answer = await providers.bill(payment.provider).submit(request, signal);
      return recordReceipt(payment, answer, 'provider_answer');
    },

    async verify(payment: BillPayment, signal: AbortSignal) {
      const answer = await providers.bill(payment.provider).verify(aboutOf(payment), signal);
      return recordReceipt(payment, answer, 'poll');
    },
  };
}

/** The outcome without its receipt. Bills have no session id. */
function outcomeOf(answer: BillSubmitAnswer | BillVerifyAnswer): ProviderOutcome {
  if (answer.kind !== 'succeeded' && answer.kind !== 'reversed') return answer;
  const { kind, amountMinor, providerRequestId } = answer;
  return { kind, amountMinor, providerRequestId, sessionId: null };
}
