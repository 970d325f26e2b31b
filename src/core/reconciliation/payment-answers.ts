import type { FactSource, InstructionFact } from '../instructions/fact.js';
import type { HeldInstruction } from '../instructions/held-instruction.js';
import { isOpen } from '../instructions/instruction.js';
import type { InstructionLabels } from '../instructions/workflow-contract.js';
import type { ProviderOutcome } from '../instructions/provider-outcome.js';
import type { VerifyAnswer } from '../providers/transfer-provider.js';
import type { BreakKind } from './break.js';
import { verdictOf, type Comparable, type ComparedRecords, type Described } from './comparison.js';

/** The fields of a record with a hold that a comparison needs. `amount_minor`: the amount that the provider executes. */
export type ComparedPayment = Pick<
  HeldInstruction,
  'status' | 'in_suspense' | 'reversed_at' | 'monitor_until' | 'settled_amount_minor'
> & { amount_minor: bigint };

const settledOf = ({ amount_minor: amount, settled_amount_minor: settled }: ComparedPayment) =>
  settled ?? amount;

/** True if the provider's answer allows the state of a record with a hold. */
export function paymentAgrees(ours: ComparedPayment, answer: VerifyAnswer): boolean {
  if (
    'amountMinor' in answer &&
    answer.amountMinor !== null &&
    answer.amountMinor !== settledOf(ours)
  )
    return false;
  if (isOpen(ours)) return answer.kind === 'pending' || answer.kind === 'not_found';
  if (ours.status === 'completed' || ours.in_suspense) return answer.kind === 'succeeded';
  if (ours.reversed_at !== null) return answer.kind === 'reversed';
  if (answer.kind === 'pending') return ours.monitor_until !== null;
  return answer.kind === 'rejected' || answer.kind === 'not_found';
}

/** The words for a provider's answer. */
export const STATES: Record<VerifyAnswer['kind'], string> = {
  succeeded: 'paid',
  rejected: 'refused',
  reversed: 'reversed',
  pending: 'pending',
  not_found: 'unknown',
  unknown: 'silent',
};

type Names = Pick<InstructionLabels, 'provider' | 'paid'>;

/** Describes a record with a hold that differs from its provider's answer. */
export function describePayment(
  ours: ComparedPayment,
  answer: VerifyAnswer,
  { provider, paid }: Names = { provider: 'bank', paid: STATES.succeeded },
): Described {
  const isOther =
    'amountMinor' in answer &&
    answer.amountMinor !== null &&
    answer.amountMinor !== settledOf(ours);
  const suspense = ours.in_suspense ? ' (in suspense)' : '';
  const state = answer.kind === 'succeeded' ? paid : STATES[answer.kind];
  const difference = `${ours.status}${suspense} with us, ${state} at the ${provider}`;
  return {
    breakKind: kindOf(answer, isOther),
    amountMinor: ours.amount_minor,
    ours: ours.status,
    difference: isOther ? `${difference}, of another amount` : difference,
  };
}

/** The kind of a break by the provider's answer. `isOther`: it names another amount. */
export function kindOf({ kind }: { kind: string }, isOther: boolean): BreakKind {
  if (kind === 'not_found') return 'missing_there';
  return isOther ? 'other_amount' : 'other_state';
}

/** The source of the facts of a reconciliation. */
export const reconciliationSource = (
  provider: string,
  providerRequestId: string | null,
): FactSource => ({ via: 'poll', actor: provider, providerRequestId, note: 'reconciliation' });

/** An answer with the mark that its outcome may have. */
type MarkedAnswer = VerifyAnswer & Pick<ProviderOutcome, 'unlessFailed'>;

/** Returns an answer as a fact, or null if the answer proves no outcome. */
export function paymentFact(answer: MarkedAnswer, provider: string): InstructionFact | null {
  const source = reconciliationSource(provider, answer.providerRequestId);
  switch (answer.kind) {
    case 'succeeded':
    case 'reversed': {
      const { kind, amountMinor, sessionId } = answer;
      if (kind === 'reversed') return { ...source, kind, amountMinor, sessionId };
      const doubt = answer.unlessFailed ? { unlessFailed: true as const } : {};
      return {
        ...source,
        kind,
        amountMinor,
        sessionId,
        feeMinor: answer.feeMinor ?? null,
        ...doubt,
      };
    }
    case 'rejected':
      return { ...source, kind: 'rejected', code: answer.code };
    case 'pending':
    case 'not_found':
    case 'unknown':
      return null;
  }
}

/** The answer in an outcome. A question that the provider has turned away is not answered. */
export function answerIn(outcome: ProviderOutcome): MarkedAnswer {
  if (outcome.kind !== 'throttled' && outcome.kind !== 'rejected_temporarily') return outcome;
  const { providerRequestId } = outcome;
  return { kind: 'unknown', reason: 'throttled', providerRequestId };
}

type VerifiedRecord = ComparedPayment & Comparable & Pick<HeldInstruction, 'version' | 'attention'>;

/**
 * Records with a hold, as they are compared with their providers. `ask` changes nothing; `verify` keeps what comes with the
 * answer, so an answer that is applied is asked for once more.
 */
export const comparedPayments = <R extends VerifiedRecord>(parts: {
  kind: string;
  rateLimitKey: (provider: string) => string;
  labels?: Names;
  get(tenantId: string, id: string): Promise<R | null>;
  ask(record: R, signal: AbortSignal): Promise<VerifyAnswer>;
  verify(record: R, signal: AbortSignal): Promise<ProviderOutcome>;
  applyFact(record: R, fact: InstructionFact): Promise<unknown>;
  notifyChangedSoon(record: R): void;
}): ComparedRecords<R, VerifyAnswer> => ({
  kind: parts.kind,
  rateLimitKey: parts.rateLimitKey,
  get: (tenantId, id) => parts.get(tenantId, id),
  ask: (record, signal) => parts.ask(record, signal),
  agrees: paymentAgrees,
  describe: (record, answer) => describePayment(record, answer, parts.labels),
  async apply(record) {
    const outcome = await parts.verify(record, new AbortController().signal);
    const fact = paymentFact(answerIn(outcome), record.provider);
    if (fact) await parts.applyFact(record, fact);
    parts.notifyChangedSoon(record);
    return verdictOf(record, await parts.get(record.tenant_id, record._id));
  },
});
