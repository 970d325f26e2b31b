import { isOpen } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { newOperation, operationFailure, type CardOperation } from '../cards/card-operation.js';

/** At most one for each funding, so its id says whose it is. No tenant ever sees it. */
export const fundReversalIdOf = (funding: string) => `${funding}-unwind`;

export type Expired = { failed: CardOperation; fundReversal: CardOperation | null };

/**
 * What the deadline does to a just-in-time funding that is still open: it has failed for who asked for it. If its order
 * may have left us, an unwinding takes over the hold; otherwise nothing can follow, and the hold may go back. Null: the
 * deadline has not come, or the funding had ended before.
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
      // The order that left us: there is something to ask for.
      submissions: 1,
    },
    now,
    `has the hold of ${reversesOperationId} from its deadline on`,
  );
}
