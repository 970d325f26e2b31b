import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { timelineEntry } from '../../core/instructions/instruction.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import {
  cardAuthorizations,
  detailsOf,
  isApproved,
  messageIn,
  NEVER_ASKED,
  type AuthorizationMessage,
  type CardAuthorization,
} from './record.js';
import type { DisputeFactKind, FactKind } from './facts.js';
import type { AuthorizationTerms, DecideCardAuthorization } from './mutations.js';
import { authorizationEvent } from './webhook-events.js';

/** Writes an authorization with the event of its change. Null: nothing changes for the tenant. */
export function writeAndEmit(
  uow: UnitOfWork,
  after: CardAuthorization,
  kind: FactKind | null,
): CardAuthorization {
  // The dispute emits the event of its credit.
  if (kind === null || isOfDispute(kind)) {
    uow.change(cardAuthorizations, after);
    return after;
  }
  const next = { ...after, event_sequence: after.event_sequence + 1 };
  uow.change(cardAuthorizations, next);
  uow.emit(authorizationEvent(next, kind));
  return next;
}

const isOfDispute = (kind: FactKind): kind is DisputeFactKind =>
  kind === 'dispute_credited' || kind === 'dispute_debited';

/** The reason of attention for a payment that has as many requests or reports as are kept. */
const FULL = 'the payment has more requests or reports than are kept';

/** True if no further request and no further report of the issuer is kept. What we withdraw or release ourselves always is. */
export const isFull = (
  { facts, messages }: CardAuthorization,
  { mostReports: most }: AuthorizationTerms,
): boolean => facts.length >= most || messages.length >= most;

/** Calls an operator, once, for a payment that keeps no more of what its issuer says. */
export function callForFull(uow: UnitOfWork, known: CardAuthorization, now: Date) {
  if (known.attention?.reason === FULL) return known;
  const entry = timelineEntry(now, 'attention_raised', 'bursar', { detail: FULL });
  const next: CardAuthorization = {
    ...known,
    attention: { since: now, reason: FULL },
    version: known.version + 1,
    updated_at: now,
    timeline: [...known.timeline, entry],
  };
  uow.change(cardAuthorizations, next);
  return next;
}

/** Stores the decline of a message. It changes nothing of what other messages hold. */
export function recordDecline(
  uow: UnitOfWork,
  known: CardAuthorization,
  {
    request,
    authorizationRequestId,
    code,
  }: { request: AuthorizationRequest; authorizationRequestId: string; code: string },
  now: Date,
): CardAuthorization {
  const { messageId: message_id, amountMinor: amount_minor, kind } = request;
  const requestIds = [authorizationRequestId];
  const message = {
    message_id,
    kind,
    amount_minor,
    available_minor: null,
    approved: false,
    code,
    ...detailsOf(request),
    request_ids: requestIds,
  };
  const detail = `declined: ${code}`;
  const next = {
    ...known,
    version: known.version + 1,
    code: known.approved ? known.code : code,
    messages: [...known.messages, message],
    updated_at: now,
    timeline: [...known.timeline, timelineEntry(now, 'accepted', known.provider, { detail })],
  };
  return writeAndEmit(uow, next, 'declined');
}

/**
 * Repeat of a decided message. Adds this request to those that may have received the approval. A request past its own
 * deadline is declined and not added.
 */
export function repeatedRequest(
  uow: UnitOfWork,
  known: CardAuthorization,
  { request: { messageId }, authorizationRequestId, answerBy }: DecideCardAuthorization,
  now: Date,
): CardAuthorization {
  const ids = messageIn(known, messageId)?.request_ids ?? [];
  const isKnown = ids.includes(authorizationRequestId);
  if (isKnown || !isApproved(known, messageId) || now > answerBy) return known;
  const requestIds = [...ids, authorizationRequestId];
  return changeRequestIds(uow, known, { messageId, requestIds, detail: 'repeated request' }, now);
}

function changeRequestIds(
  uow: UnitOfWork,
  known: CardAuthorization,
  { messageId, requestIds, detail }: { messageId: string; requestIds: string[]; detail: string },
  now: Date,
): CardAuthorization {
  const next = {
    ...known,
    messages: known.messages.map((message) =>
      message.message_id === messageId ? { ...message, request_ids: requestIds } : message,
    ),
    version: known.version + 1,
    updated_at: now,
    timeline: [...known.timeline, timelineEntry(now, 'note', known.provider, { detail })],
  };
  uow.change(cardAuthorizations, next);
  return next;
}

/**
 * Withdraws a request that was answered with a decline. Returns the record, or null if the hold of its approval must be
 * released: no other request may have received that approval.
 */
export function withdraw(
  uow: UnitOfWork,
  known: CardAuthorization,
  given: { withdrawsRequestId: string; request: AuthorizationRequest; code: string | null },
  now: Date,
): CardAuthorization | null {
  const { withdrawsRequestId: authorizationRequestId, request } = given;
  const message = messageIn(known, request.messageId);
  if (!message) {
    const code = given.code ?? NEVER_ASKED;
    return recordDecline(uow, known, { request, authorizationRequestId, code }, now);
  }
  const others = message.request_ids.filter((id) => id !== authorizationRequestId);
  if (others.length === 0) return null;
  return changeRequestIds(
    uow,
    known,
    {
      messageId: request.messageId,
      requestIds: others,
      detail: 'one request was declined, and another may have been approved',
    },
    now,
  );
}

/** True if this request may have been answered with the approval of the message. */
export const mayHaveAnswered = (
  { request_ids: ids }: AuthorizationMessage,
  { withdrawsRequestId }: { withdrawsRequestId: string },
) => ids.includes(withdrawsRequestId);
