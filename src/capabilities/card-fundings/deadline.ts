import { isOpen } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { newOperation, operationFailure, type CardOperation } from '../cards/card-operation.js';

/** The id of a funding's reversal. A funding has at most one, and tenants never see it. */
export const fundReversalIdOf = (funding: string) => `${funding}-reversal`;

/** A funding that has failed at its deadline, and the reversal that takes over its hold. */
export type Expired = { failed: CardOperation; fundReversal: CardOperation | null };

/**
 * Fails a just-in-time funding that is open at its deadline. If it may have been submitted, a fund reversal takes over its
 * hold; otherwise the caller releases the hold. Null: the deadline has not passed, or the funding has ended before.
 */
export function expire(operation: CardOperation, now: Date): Expired | null {
  const { deadline_at: deadline, submissions } = operation;
  if (deadline === null || deadline > now || !isOpen(operation)) return null;
  const maybeSubmitted = submissions > 0;
  const failed: CardOperation = {
    ...operation,
    status: 'failed',
    failure: operationFailure('deadline_exceeded'),
    attention: null,
    next_check_at: null,
    version: operation.version + 1,
    updated_at: now,
    timeline: [
      ...operation.timeline,
      timelineEntry(now, 'note', 'bursar', {
        detail: maybeSubmitted
          ? 'not confirmed by the deadline: the hold is kept until nothing of it is on the card'
          : 'not sent by the deadline',
      }),
      ...(maybeSubmitted
        ? []
        : [
            timelineEntry(now, 'released', 'bursar', {
              detail: 'the hold was released to the wallet',
            }),
          ]),
    ],
  };
  return { failed, fundReversal: maybeSubmitted ? newFundReversal(operation, now) : null };
}

function newFundReversal(operation: CardOperation, now: Date): CardOperation {
  const {
    _id: reversesOperationId,
    tenant_id: tenantId,
    card_id: card,
    provider,
    amount_minor,
    currency,
  } = operation;
  const id = fundReversalIdOf(reversesOperationId);
  return newOperation(
    {
      _id: id,
      reference: id,
      type: 'fund_reversal',
      status: 'processing',
      reverses_operation_id: reversesOperationId,
      tenant_id: tenantId,
      card_id: card,
      provider,
      amount_minor,
      currency,
      // The submission of the funding: the issuer must be asked about it.
      submissions: 1,
    },
    now,
    `took over the hold of ${reversesOperationId} at its deadline`,
  );
}
