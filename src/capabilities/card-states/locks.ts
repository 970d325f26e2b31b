import type { Act } from '../../core/audit/entry.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type { ReportedCardState } from '../../core/providers/card-issuer.js';
import { cards, desiredAtIssuer, statusByLocks, type Card } from '../cards/record.js';
import { cardOperations } from '../cards/card-operation.js';
import { changeCardAndEmit, changeOperation } from '../cards/mutations.js';
import { pendingOperation, supersedePending, withReset } from './mutations.js';
import { isCardStateOperation, transitionCardState } from './transitions.js';

type CardKey = { tenantId: string; card: string };
/**
 * The input of `applyReportedState`. `at` is the time of the change at the issuer. `sequence`, of an answer: that of the card's own
 * changes when the issuer was asked; after a later one the answer is outdated. `executed`: the open operation whose request the
 * issuer has executed before it changed the state by itself.
 */
type ApplyReportedState = CardKey & {
  state: ReportedCardState;
  at: Date;
  sequence?: number;
  executed?: string;
};
/** The input of `setOperatorLock`. Null lifts the lock. */
type SetOperatorLock = CardKey & { lock: { actor: string; reason: string } | null; act?: Act };

/** The result of a change by others: whether it changed anything, and the card after it; null if there is none. */
type OthersResult = { verdict: 'applied' | 'unchanged' | 'stale'; card: Card | null };

const reads = ({ tenantId, card }: CardKey) => ({
  records: [cards.ref(card)],
  wallets: [tenantId],
  further: pendingOperation(card),
});

/**
 * Applies a change of a card that its issuer reports, or that an answer of it shows. A lock of the issuer locks the card here, and
 * is never undone by us; a closed card is closed here. Any other state than the card should have is set again.
 */
export const applyReportedState: Mutation<ApplyReportedState, OthersResult> = {
  reads,
  decide: decideReported,
};

/** Sets or lifts the lock that only operators lift. It is in force here at once, and then at the issuer. */
export const setOperatorLock: Mutation<SetOperatorLock, OthersResult> = {
  reads,
  decide: decideOperatorLock,
  audited(uow, input) {
    const card = own(uow, input);
    return card && { status: card.status, locked_by_operator: card.locks.operator !== null };
  },
};

/** Reads the state at the issuer once more, because a request without an answer may have been executed late. */
export const recheckState: Mutation<CardKey, OthersResult> = {
  reads,
  decide(uow, { tenantId, card: id }, now) {
    const card = own(uow, { tenantId, card: id });
    if (!card || card.state_control.doubted_at === null) return { verdict: 'stale', card };
    const control = { ...card.state_control, doubted_at: null };
    const isIdle = isLive(card) && control.pending_operation_id === null;
    const known = { ...card, state_control: control };
    const next = isIdle
      ? withReset(uow, known, 'the issuer may have executed an older request', now)
      : known;
    return write(uow, card, next, now);
  },
};

/** True for a card that has not ended: others may still change it. */
export const isLive = ({ status }: Card) => status === 'active' || status === 'locked';

function own(uow: UnitOfWork, { tenantId, card: id }: CardKey): Card | null {
  const card = uow.get(cards, id);
  return card?.tenant_id === tenantId ? card : null;
}

/** Writes the changes that others make, with the status that follows from them. */
function write(uow: UnitOfWork, before: Card, after: Card, now: Date): OthersResult {
  const { state_control, locks, status } = after;
  const set = { state_control, locks, status: statusByLocks({ status, state_control, locks }) };
  return { verdict: 'applied', card: changeCardAndEmit(uow, before, set, now) };
}

function decideReported(uow: UnitOfWork, input: ApplyReportedState, now: Date): OthersResult {
  const card = own(uow, input);
  if (!card || !isLive(card)) return { verdict: 'stale', card };
  const { reported_at: latest, sequence } = card.state_control;
  const isOutdated =
    (latest !== null && input.at < latest) || (input.sequence ?? sequence) < sequence;
  if (isOutdated) return { verdict: 'stale', card };
  const settled = input.executed ? withExecuted(uow, card, input.executed, now) : card;
  const known = {
    ...settled,
    state_control: { ...settled.state_control, reported_at: input.at },
  };
  const { kind } = input.state;
  switch (effectOfReport(settled, input.state)) {
    case 'close':
      return close(uow, card, known, now);
    case 'lock':
      return lock(uow, card, known, now);
    case 'lift': {
      const free = { ...known, locks: { ...known.locks, issuer: null } };
      const next = mustReset(free, kind) ? resetOf(uow, free, kind, now) : free;
      return write(uow, card, next, now);
    }
    case 'reset':
      return write(uow, card, resetOf(uow, known, kind, now), now);
    case null:
      // A newer report that changes nothing still makes all earlier ones outdated.
      return latest !== null && latest.getTime() === input.at.getTime()
        ? { verdict: 'unchanged', card }
        : write(uow, card, known, now);
  }
}

/** The card with its pending operation completed; as it is if another one is pending, or none. */
function withExecuted(uow: UnitOfWork, card: Card, id: string, now: Date): Card {
  if (card.state_control.pending_operation_id !== id) return card;
  const operation = uow.get(cardOperations, id);
  if (!operation || !isCardStateOperation(operation)) return card;
  const { next, card: set } = transitionCardState(operation, card, EXECUTED, now);
  if (next !== operation) changeOperation(uow, operation, next);
  return { ...card, ...set };
}

const EXECUTED: InstructionFact = {
  via: 'poll',
  actor: null,
  providerRequestId: null,
  note: null,
  kind: 'succeeded',
  amountMinor: null,
  sessionId: null,
};

/** The effect of a state at the issuer on a card here: null if the card is in it, or has an open operation that sets another. */
export function effectOfReport(
  card: Card,
  { kind, changedBy }: ReportedCardState,
): 'close' | 'lock' | 'lift' | 'reset' | null {
  if (kind === 'closed') return 'close';
  if (kind === 'locked' && changedBy === 'issuer') return card.locks.issuer ? null : 'lock';
  // A message about the end of the issuer's lock may have been lost: the lock has ended if another party has locked the card.
  if (card.locks.issuer && (kind === 'open' || (kind === 'locked' && changedBy === 'us'))) {
    return 'lift';
  }
  return mustReset(card, kind) ? 'reset' : null;
}

/**
 * True if the issuer must set the state of a card again, which no open operation does. An opening that was never confirmed keeps
 * the card locked here. A lock of the issuer covers the state that we have set.
 */
function mustReset(card: Card, kind: ReportedCardState['kind']): boolean {
  const { pending_operation_id: pending, confirmed_sequence, sequence } = card.state_control;
  if (pending !== null || kind === 'inactive') return false;
  if (kind === 'locked' && card.locks.issuer) return false;
  const isUnconfirmed = kind === 'open' && confirmed_sequence !== sequence;
  return isUnconfirmed || kind !== desiredAtIssuer(card);
}

const resetOf = (uow: UnitOfWork, card: Card, kind: string, now: Date) =>
  withReset(uow, card, `the issuer reports that it is ${kind}`, now);

function close(uow: UnitOfWork, card: Card, known: Card, now: Date): OthersResult {
  supersedePending(uow, card, 'card_closed', 'the issuer has closed the card', now);
  const { sequence } = known.state_control;
  const control = {
    ...known.state_control,
    desired: 'closed',
    confirmed_sequence: sequence,
    pending_operation_id: null,
  } as const;
  return write(uow, card, { ...known, status: 'closed', state_control: control }, now);
}

/** A pending unlock ends: it must not undo the lock. */
function lock(uow: UnitOfWork, card: Card, known: Card, now: Date): OthersResult {
  const next = { ...known, locks: { ...known.locks, issuer: { since: now } } };
  return write(uow, card, withoutUnlock(uow, card, next, 'locked_by_issuer', now), now);
}

/** Ends a pending unlock or reset that would open a card which others have locked. */
function withoutUnlock(
  uow: UnitOfWork,
  card: Card,
  next: Card,
  code: 'locked_by_issuer' | 'locked_by_operator',
  now: Date,
): Card {
  const { pending_operation_id: id, desired } = card.state_control;
  if (id === null || desired !== 'open') return next;
  const { doubted, wasUnlock } = supersedePending(uow, card, code, 'others locked the card', now);
  const control = {
    ...next.state_control,
    ...doubted,
    pending_operation_id: null,
    desired: wasUnlock ? 'locked' : desired,
  } as const;
  return { ...next, state_control: control };
}

function decideOperatorLock(uow: UnitOfWork, input: SetOperatorLock, now: Date): OthersResult {
  const card = own(uow, input);
  if (!card || !isLive(card)) return { verdict: 'stale', card };
  const { lock: given } = input;
  if ((given === null) === (card.locks.operator === null)) return { verdict: 'unchanged', card };
  const operator = given && { since: now, ...given };
  const locked = { ...card, locks: { ...card.locks, operator } };
  if (given !== null) {
    const next = withoutUnlock(uow, card, locked, 'locked_by_operator', now);
    const mustReset = next.state_control.desired === 'open';
    return write(uow, card, mustReset ? reset(uow, next, now) : next, now);
  }
  if (card.state_control.desired !== 'open') return write(uow, card, locked, now);
  supersedePending(uow, card, 'superseded', 'an operator has lifted the lock', now);
  return write(uow, card, reset(uow, locked, now), now);
}

/** The issuer gets the state too. Until it has confirmed an opening, the card stays locked. */
function reset(uow: UnitOfWork, card: Card, now: Date): Card {
  const made = withReset(uow, card, 'an operator has changed the lock of the card', now);
  const { sequence } = card.state_control;
  return { ...made, state_control: { ...made.state_control, sequence: sequence + 1 } };
}
