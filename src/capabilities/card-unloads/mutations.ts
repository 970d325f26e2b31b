import type { Act } from '../../core/audit/entry.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { instructionState, timelineEntry } from '../../core/instructions/instruction.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen, needsWorkflow } from '../../core/instructions/instruction.js';
import { cards, type Card } from '../cards/record.js';
import {
  cardOperations,
  newOperation,
  type CardOperation,
  type Funding,
} from '../cards/card-operation.js';
import { changeCard, changeOperation } from '../cards/mutations.js';
import { movedCard, unloadHoldPosting, unloadPosting } from './postings.js';
import {
  CONTRADICTED,
  SURPLUS,
  transitionCardUnload,
  type UnloadTransition,
} from './transitions.js';

/** The input of `applyCardUnloadFact`. */
type ApplyCardUnloadFact = { tenantId: string; id: string; card: string; fact: InstructionFact };
/** The result of `applyCardUnloadFact`: the operation as it is after the commit; null if there is no such operation. */
type ApplyCardUnloadFactResult = {
  verdict: UnloadTransition['verdict'];
  operation: CardOperation | null;
};
/** The input of `retryCardUnload`. */
type RetryCardUnload = {
  tenantId: string;
  card: string;
  actor: string;
  reason: string;
  act?: Act;
  /** An unloading about which the issuer was asked now, with its version then, and the reversal that the issuer confirms. */
  asked?: { id: string; version: number; fact: InstructionFact | null };
};

/** Applies a fact about an unloading. Repeats and facts out of order are safe. */
export const applyCardUnloadFact: Mutation<ApplyCardUnloadFact, ApplyCardUnloadFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: [cardOperations.ref(id), cards.ref(card)],
    wallets: [tenantId],
  }),
  decide: decideUnloadFact,
  audited: (uow, { id }) => instructionState(uow.get(cardOperations, id)),
};

/**
 * Unloads a card again, after the issuer did not give back its whole balance or has taken some of it back, which is booked first.
 * Attention ends. False: nothing of this applies, or an unloading has changed since its issuer was asked.
 */
export const retryCardUnload: Mutation<RetryCardUnload, { done: boolean }> = {
  reads: ({ tenantId, card, asked }) => ({
    records: [cards.ref(card), ...(asked ? [cardOperations.ref(asked.id)] : [])],
    wallets: [tenantId],
    further: (found) => {
      const id = found.get(cards, card)?.unload.failed_operation_id ?? null;
      return id === null ? [] : [cardOperations.ref(id)];
    },
  }),
  decide: decideRetry,
};

/**
 * Creates the unloading of a closed or expired card, and holds its whole balance on the card. One is open at a time; after
 * one that the issuer did not carry out in full, an operator must ask for the next.
 */
export function startUnload(uow: UnitOfWork, card: Card, now: Date): Card {
  const { unload, available_minor: amountMinor } = card;
  if (unload.operation_id !== null || unload.failed_operation_id !== null) return card;
  const operation = newOperation(
    {
      tenant_id: card.tenant_id,
      card_id: card._id,
      type: 'unload',
      provider: card.provider,
      amount_minor: amountMinor,
      transaction_reference: unload.transaction_reference,
    },
    now,
    'the balance is held on the card until the issuer has given it back',
  ) as Funding;
  uow.create(cardOperations, operation);
  uow.post(unloadHoldPosting(operation, now));
  return {
    ...card,
    available_minor: 0n,
    held_minor: card.held_minor + amountMinor,
    unload: {
      operation_id: operation._id,
      failed_operation_id: null,
      transaction_reference: null,
    },
  };
}

function decideUnloadFact(
  uow: UnitOfWork,
  { tenantId, id, card: cardId, fact }: ApplyCardUnloadFact,
  now: Date,
): ApplyCardUnloadFactResult {
  const operation = uow.get(cardOperations, id);
  const card = uow.get(cards, cardId);
  const own = operation?.tenant_id === tenantId && operation.card_id === card?._id;
  if (!own || operation.type !== 'unload') return { verdict: 'stale', operation: null };
  const transition = transitionCardUnload(operation, fact, now, card.available_minor);
  const { verdict, next, movement } = transition;
  if (next === operation) return { verdict, operation };
  if (movement) {
    const wallet = uow.wallet(tenantId);
    const { amount_minor: askedMinor, settled_amount_minor: settledMinor } = next;
    const givenMinor = settledMinor ?? askedMinor ?? 0n;
    const surplusMinor = movement.step === 'late' ? givenMinor - movement.walletMinor : 0n;
    const { posting, change } = unloadPosting(next, movement, surplusMinor, now, wallet);
    uow.post(posting);
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + change.availableMinor,
      receivableMinor: wallet.receivableMinor + change.receivableMinor,
    });
  }
  const moved = movement ? movedCard(card, movement) : {};
  const unload = unloadAfter(card, next);
  if (movement || unload !== card.unload) changeCard(uow, card, { ...moved, unload }, now);
  return { verdict, operation: changeOperation(uow, operation, next) };
}

/** An unloading that ended without the whole balance stops further ones; an operator asks for the next. */
function unloadAfter({ unload }: Card, operation: CardOperation): Card['unload'] {
  if (isOpen(operation)) return unload;
  const { _id: id, status, settled_amount_minor: settled = null } = operation;
  const isWhole = status === 'completed' && settled === null;
  const ended = unload.operation_id === id ? { ...unload, operation_id: null } : unload;
  if (!isWhole) return { ...ended, failed_operation_id: id };
  return ended.failed_operation_id === id ? { ...ended, failed_operation_id: null } : ended;
}

function decideRetry(
  uow: UnitOfWork,
  { tenantId, card: cardId, actor, reason, asked }: RetryCardUnload,
  now: Date,
): { done: boolean } {
  const before = uow.get(cards, cardId);
  if (before?.tenant_id !== tenantId) return { done: false };
  if (asked) {
    const { id, version, fact } = asked;
    if (uow.get(cardOperations, id)?.version !== version) return { done: false };
    if (fact) decideUnloadFact(uow, { tenantId, id, card: cardId, fact }, now);
  }
  const card = uow.get(cards, cardId) ?? before;
  const failed = card.unload.failed_operation_id;
  // The one that was asked about may have taken the place of another one that had failed before.
  const settled = new Set([before.unload.failed_operation_id, failed, asked?.id ?? null]);
  const cleared = [...settled].filter((id) => id !== null && clearAttention(id));
  if (failed === null) return { done: cleared.length > 0 };
  const unload = { ...card.unload, failed_operation_id: null };
  const next = changeCard(uow, card, { unload }, now);
  return { done: cleared.length > 0 || next.unload.operation_id !== null };

  function clearAttention(id: string): boolean {
    const operation = uow.get(cardOperations, id);
    if (!operation?.attention) return false;
    const { reason: raised } = operation.attention;
    // A contradiction that has come since needs the issuer's answer first. A surplus stays in suspense.
    if (raised === SURPLUS || (id !== asked?.id && CONTRADICTED.includes(raised))) return false;
    const entry = timelineEntry(now, 'attention_cleared', actor, { detail: reason });
    const changed = { attention: null, version: operation.version + 1, updated_at: now };
    const next = { ...operation, ...changed, timeline: [...operation.timeline, entry] };
    const check = needsWorkflow(next) ? next.next_check_at : null;
    uow.change(cardOperations, { ...next, next_check_at: check });
    return true;
  }
}

/** Commits a fact about an unloading. Repeats and facts out of order are safe. */
export const commitUnloadFact = (
  groupCommit: GroupCommit,
  { tenant_id: tenantId, _id: id, card_id: card }: CardOperation,
  fact: InstructionFact,
): Promise<ApplyCardUnloadFactResult> =>
  groupCommit.commit(applyCardUnloadFact, { tenantId, id, card, fact });
