import { cardEventName, withOperationEvent } from './webhook-events.js';
import {
  acceptOnce,
  keysOf,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import { instructionState } from '../../core/instructions/instruction.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { accounts, posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { autoReloadAfter, withStopEvent } from '../card-fundings/mutations.js';
import { customerRef, nameCustomer } from '../customers/mutations.js';
import { startUnload } from '../card-unloads/mutations.js';
import { cards, isTerminal, type Card } from './record.js';
import { cardOperations, type CardOperation } from './card-operation.js';
import { presentCard } from './presenter.js';
import { transitionIssuance, type IssuanceFact, type IssuanceTransition } from './transitions.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';

/** The input of `acceptCard`. */
type AcceptCard = {
  tenantId: string;
  /** Card and operation are built with their ids before the commit, so that a repeated commit finds them. */
  card: Card;
  operation: CardOperation;
  claim: Claim | null;
  /** The response that is saved under the idempotency key. */
  answer: SavedResponse;
};
/** The input of `applyIssuanceFact`. */
type ApplyIssuanceFact = {
  tenantId: string;
  /** The id of the operation. */
  id: string;
  card: string;
  fact: IssuanceFact;
};

/** The result of `applyIssuanceFact`: operation and card as they are after the commit. */
type ApplyIssuanceFactResult =
  | {
      kind: 'applied';
      verdict: IssuanceTransition['verdict'];
      operation: CardOperation;
      card: Card;
    }
  | { kind: 'no_such_operation' };

/** Creates a card and the operation that issues it, and saves the response under its idempotency key. */
export const acceptCard: Mutation<AcceptCard, AcceptResult> = {
  reads: ({ tenantId, card, claim }, full) => ({
    keys: keysOf(claim),
    records: [
      customerRef(tenantId, card.customer_id),
      // The id is new. Only a repeated commit can find the card.
      ...(full ? [cards.ref(card._id)] : []),
    ],
  }),
  decide: decideAccept,
  weigh: ({ answer }) => 3_000 + 2 * answer.body.length,
};

/** Applies a fact about the issuance to operation and card. Repeats and facts out of order are safe. */
export const applyIssuanceFact: Mutation<ApplyIssuanceFact, ApplyIssuanceFactResult> = {
  reads: ({ tenantId, id, card }) => ({
    records: [cardOperations.ref(id), cards.ref(card)],
    wallets: [tenantId],
  }),
  decide: decideIssuanceFact,
  audited: (uow, { id }) => instructionState(uow.get(cardOperations, id)),
};

function decideAccept(uow: UnitOfWork, input: AcceptCard, now: Date): AcceptResult {
  return acceptOnce(uow, input, now, {
    collection: cards,
    id: input.card._id,
    response: () => input.answer,
    admit() {
      const named = { id: input.card.customer_id, email: null, name: null, mayChange: true };
      nameCustomer(uow, input.tenantId, named, now);
      // The API's clock may be ahead of the decision's time, which the database server bounds.
      const today = lagosDay(now);
      const { daily_spend: spend } = input.card;
      uow.create(cards, {
        ...input.card,
        daily_spend: spend.day > today ? { ...spend, day: today } : spend,
      });
      uow.create(cardOperations, input.operation);
      return input.card;
    },
  });
}

function decideIssuanceFact(
  uow: UnitOfWork,
  input: ApplyIssuanceFact,
  now: Date,
): ApplyIssuanceFactResult {
  const operation = uow.get(cardOperations, input.id);
  const card = uow.get(cards, input.card);
  if (operation?.tenant_id !== input.tenantId || card?._id !== operation.card_id) {
    return { kind: 'no_such_operation' };
  }
  const transition = transitionIssuance(operation, card, input.fact, now);
  const { verdict, operation: next } = transition;
  if (next !== operation) uow.change(cardOperations, next);
  const changed = transition.card ? changeCardAndEmit(uow, card, transition.card, now) : card;
  return { kind: 'applied', verdict, operation: next, card: changed };
}

/** Commits a fact about the issuance of a card. Repeats and facts out of order are safe. */
export const commitIssuanceFact = (
  groupCommit: GroupCommit,
  {
    tenant_id: tenantId,
    _id: id,
    card_id: card,
  }: Pick<CardOperation, 'tenant_id' | '_id' | 'card_id'>,
  fact: IssuanceFact,
): Promise<ApplyIssuanceFactResult> =>
  groupCommit.commit(applyIssuanceFact, { tenantId, id, card, fact });

/**
 * Changes a card within a commit. Every change of a card goes through this function, because two rules follow any change:
 * the balance of a closed or expired card without open holds returns to the wallet, and a balance below the threshold starts
 * an auto-reload, whose stop after refusals is an event. The mutation must have read the card and the wallet, and must make its own change of the wallet first.
 */
export function changeCard(uow: UnitOfWork, before: Card, set: Partial<Card>, now: Date): Card {
  const changed: Card = { ...before, ...set, version: before.version + 1, updated_at: now };
  const mustReturnBalance =
    isTerminal(changed) && changed.open_holds === 0 && changed.available_minor > 0n;
  const left = mustReturnBalance ? returnBalance(uow, changed, now) : changed;
  const reload = autoReloadAfter(uow, before, left, now);
  const { next, event } = withStopEvent(before, { ...left, auto_reload: reload });
  uow.change(cards, next);
  uow.emit(event);
  return next;
}

/** A balance that the issuer holds is unloaded first: the wallet is credited on the issuer's proof. */
const returnBalance = (uow: UnitOfWork, card: Card, now: Date): Card =>
  card.balances === 'issuer' ? startUnload(uow, card, now) : returnCardBalance(uow, card, now);

/** Moves the balance of the card to the wallet; the tenant's receivable is paid first. */
function returnCardBalance(uow: UnitOfWork, card: Card, now: Date): Card {
  const { tenant_id: tenantId, available_minor: leftMinor } = card;
  const wallet = uow.wallet(tenantId);
  const { repaidMinor, restMinor } = payReceivable(wallet, leftMinor);
  uow.post(
    posting(`${card._id}/balance-return-${card.version}`, tenantId, now, [
      { account: accounts.cardAvailable(card._id), amountMinor: -leftMinor },
      { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
      { account: accounts.available(tenantId), amountMinor: restMinor },
    ]),
  );
  uow.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor + restMinor,
    receivableMinor: wallet.receivableMinor - repaidMinor,
  });
  return { ...card, available_minor: 0n };
}

/** Changes a card as `changeCard` does, and emits the event of its new status, if the status changes. */
export function changeCardAndEmit(
  uow: UnitOfWork,
  before: Card,
  set: Partial<Card>,
  now: Date,
): Card {
  const name = cardEventName(before, { ...before, ...set });
  if (!name) return changeCard(uow, before, set, now);
  const sequence = before.event_sequence + 1;
  const next = changeCard(uow, before, { ...set, event_sequence: sequence }, now);
  const { tenant_id: tenantId, _id: resource } = next;
  uow.emit({ tenantId, resource, sequence, at: now, name, data: presentCard(next) });
  return next;
}

/**
 * Changes an operation within a commit and returns it as written. Emits `card.operation.completed` or
 * `card.operation.failed` when an operation that tenants see has ended.
 */
export function changeOperation(
  uow: UnitOfWork,
  before: CardOperation,
  after: CardOperation,
): CardOperation {
  const { next, event } = withOperationEvent(before, after);
  uow.change(cardOperations, next);
  uow.emit(event);
  return next;
}

/** Creates an operation within a commit, and emits its event if it has ended at once. Returns it as written. */
export function createOperation(uow: UnitOfWork, created: CardOperation): CardOperation {
  uow.create(cardOperations, created);
  return changeOperation(uow, { ...created, status: 'pending' }, created);
}
