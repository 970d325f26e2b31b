import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { FactSource } from '../../core/instructions/fact.js';
import type {
  ProviderEvent,
  ProviderEventOwner,
  StoredFact,
} from '../../core/provider-events/event.js';
import {
  applied,
  NOTHING_TO_APPLY,
  sourceOf,
  type Applied,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { CardEvent } from '../../core/providers/card-issuer.js';
import type { Database } from '../../platform/database/client.js';
import { textEquals } from '../../platform/database/indexes.js';
import { acrossTenants, onlyOne } from '../../platform/database/tenant-filters.js';
import { isId } from '../../shared/ids.js';
import { commitIssuanceFact } from './mutations.js';
import { issuanceFactOf } from './transitions.js';
import type { Card } from './record.js';
import type { CardOperation } from './card-operation.js';
import type { CardOperationStarter } from './index.js';
import type { CardOperations } from './store.js';

type Kind = CardEvent['state']['state']['kind'];

/** True for the kinds of states that report moved money: a message with one never ends without an operator's knowledge. */
const MOVED_MONEY: Readonly<Record<Kind, boolean>> = {
  issued: false,
  pending: false,
  rejected: false,
  open: false,
  locked: false,
  closed: false,
  inactive: false,
  funded: true,
  unloaded: true,
  reversed: true,
  approved: true,
  declined: false,
  cleared: true,
  expired: false,
  refunded: true,
  refund_reversed: true,
  corrected: true,
  submitted: false,
  credited: true,
  credit_reversed: true,
  won: true,
  lost: true,
  withdrawn: true,
};

/** The end of a message whose record is not known. */
export const endOfUnknown = ({ kind }: { kind: Kind }): 'failed' | 'ignored' =>
  MOVED_MONEY[kind] ? 'failed' : 'ignored';

/** There is no such record of the card, so an operator must find out why. */
export const NOT_THERE = {
  kind: 'unknown',
  reason: 'its record does not exist',
  ends: 'failed',
} as const satisfies Applied;

type Subject = CardEvent['state']['subject'];
type StateOf<S extends Subject> = Extract<CardEvent['state'], { subject: S }>['state'];

/** An issuer's fact with its event, and the tenant and card that it is about. */
type IssuerFact<State> = ProviderEventOwner & {
  state: State;
  reference: string | null;
  source: FactSource;
  event: ProviderEvent;
};

/** Creates the handler of an issuer's facts on one subject. `apply` gets those about our cards alone. */
export const issuerEventHandler = <S extends Subject>(
  subject: S,
  findOwner: NonNullable<ProviderEventHandler['findOwner']>,
  apply: (fact: IssuerFact<StateOf<S>>) => Promise<Applied>,
): ProviderEventHandler => ({
  port: 'cards',
  subjects: [subject],
  findOwner,

  toFacts(event) {
    const { reference, card, state, reports } = event as CardEvent;
    if (state.subject !== subject) return [];
    const about = { subject, reference, issuer_card: card };
    return reports
      ? reports.map(({ state: reported, at }) => ({ ...about, state: { ...reported, at } }))
      : [{ ...about, state: state.state }];
  },

  async apply({ reference, state }, event) {
    const { tenant_id: tenantId, card_id: card } = event;
    // Facts are stored as `toFacts` makes them, so that subject and state match.
    const told = state as unknown as StateOf<S>;
    if (tenantId === null || card === null) {
      return { kind: 'unknown', reason: 'its card is not known here', ends: endOfUnknown(told) };
    }
    return apply({ tenantId, card, state: told, reference, source: sourceOf(event), event });
  },
});

/** Applies the events of issuers about the issuance of cards. */
export const cardEventHandler = (deps: {
  database: Database;
  groupCommit: GroupCommit;
  cards: {
    operations: Pick<CardOperations, 'issueOf' | 'acknowledge'>;
    starter: Pick<CardOperationStarter, 'notifyChangedSoon'>;
  };
}): ProviderEventHandler =>
  issuerEventHandler('card', createFindOwner(deps.database), async (fact) => {
    const { operations, starter } = deps.cards;
    const operation = await operations.issueOf({ _id: fact.card, tenant_id: fact.tenantId });
    return applyToOperation(operations, starter, operation, (issuing) => {
      const issuance = issuanceFactOf(fact.state, fact.source);
      return issuance && commitIssuanceFact(deps.groupCommit, issuing, issuance);
    });
  });

/**
 * Applies a fact to an operation, and notifies its workflow. An operation that has ended and needs an operator now is started
 * again at its next check.
 */
export async function applyToOperation(
  operations: Pick<CardOperations, 'acknowledge'>,
  starter: Pick<CardOperationStarter, 'notifyChangedSoon'>,
  operation: CardOperation | null,
  commit: (operation: CardOperation) => Promise<{ verdict: string } | { kind: string }> | null,
): Promise<Applied> {
  if (!operation) return NOT_THERE;
  const committing = commit(operation);
  if (!committing) {
    // The report is not final, so it proves no more than that the issuer has the operation.
    await operations.acknowledge(operation.tenant_id, operation._id);
    return NOTHING_TO_APPLY;
  }
  const outcome = await committing;
  starter.notifyChangedSoon(operation);
  return applied('verdict' in outcome ? outcome.verdict : outcome.kind);
}

/**
 * Finds the card of an issuer's message by our own reference, which exists before the issuer has anything, or by the
 * issuer's id of the card. An issuer's message counts for its own cards only.
 */
export function createFindOwner({ db }: Database) {
  const cards = db.collection<Card>('cards');
  const operations = db.collection<CardOperation>('card_operations');
  const ofCard = (card: Pick<Card, '_id' | 'tenant_id'> | null) =>
    card && { tenantId: card.tenant_id, card: card._id };
  const options = { projection: { tenant_id: 1, card_id: 1 }, ...acrossTenants('look_up') };

  async function byReference(
    provider: string,
    reference: string,
  ): Promise<ProviderEventOwner | null> {
    const own = { _id: reference, provider };
    if (isId('card', reference)) return ofCard(await cards.findOne(own, options));
    if (!isId('cardOperation', reference)) return null;
    const operation = await operations.findOne(own, options);
    return operation && { tenantId: operation.tenant_id, card: operation.card_id };
  }

  return async (
    provider: string,
    { reference, issuer_card: card }: StoredFact,
  ): Promise<ProviderEventOwner | null> => {
    const named = reference === null ? null : await byReference(provider, reference);
    if (named || !card) return named;
    return ofCard(
      await onlyOne(cards.find({ provider, 'issued.issuer_card_id': textEquals(card) }, options)),
    );
  };
}
