import { isControl, STANDING } from '../src/cards/control/control.js';
import type { CardOperation } from '../src/cards/operation.js';
import type { ReadStateAnswer, SetStateAnswer, StateOrder } from '../src/providers/card-issuer.js';
import type { Heard } from '../src/pursuits/heard.js';
import { isOpen } from '../src/pursuits/record.js';
import type { CardActivityDeps } from './card-operations.js';
import { pursuitActivities, type Pursued } from './pursuits.js';
import { toFact } from './reports.js';

/** The activities that have a card stand as it is wanted. Names are in histories; what they do is in pursuits.ts. */
export function createCardControlActivities(deps: CardActivityDeps) {
  const pursuit = pursuitActivities(pursuedControls(deps));
  return {
    setCardState: pursuit.send,
    setCardStateHere: pursuit.sendHere,
    verifyCardState: pursuit.verify,
    settleCardState: pursuit.settle,

    /** What is under way for a card; null: nothing. */
    async nextCardControl({ tenant, card }: { tenant: string; card: string }) {
      const id = (await deps.cards.get(tenant, card))?.control.operation;
      const operation = id ? await deps.cardOperations.get(tenant, id) : null;
      if (!operation || !isOpen(operation)) return null;
      return { id: operation._id, acceptedAtMs: operation.created_at.getTime() };
    },
  };
}

/** How issuers are told how a card has to stand. Its number keeps an older order from undoing a newer one. */
const pursuedControls = ({
  cards,
  cardOperations,
  groupCommit,
  providers,
  firstTries,
  log,
}: CardActivityDeps): Pursued<CardOperation> => ({
  name: 'card operation',
  records: cardOperations,
  log,
  firstTries,

  async callsFor(operation) {
    const { _id: id, tenant, card: cardId, number: version, request_id: requestId } = operation;
    const card = (await cards.get(tenant, cardId))?.issued?.card;
    if (!card || version === null || !isControl(operation)) {
      throw new Error(`${id} is no order about an issued card`);
    }
    const issuer = providers.issuer(operation.provider);
    const wanted = { card, state: STANDING[operation.type], version };
    const clientReference = requestId ?? id;
    return {
      provider: issuer.name,
      absence: { kind: 'deduplicates' },
      send: async (requestedAt, signal) =>
        readSetting(await issuer.setState({ ...wanted, clientReference, requestedAt }, signal)),
      verify: async (signal) => readStanding(await issuer.readState(card, signal), wanted),
    };
  },

  async apply({ tenant, id }, report, origin) {
    const operation = await cardOperations.get(tenant, id);
    if (!operation) return null;
    const { card } = operation;
    const fact = toFact(report, origin);
    return (await groupCommit.commit({ kind: 'controlFact', tenant, id, card, fact })).operation;
  },
});

/** In the terms of every pursuit: what is set is "paid". Which refusals pass, and which are the end, is said here. */
function readSetting(answer: SetStateAnswer): Heard {
  const { providerRequestId } = answer;
  if (answer.kind === 'set') return { ...PAID, providerRequestId };
  if (answer.kind !== 'refused') return answer;
  const { code } = answer;
  if (code === 'card_closed') return { kind: 'refused', code, providerRequestId };
  // A newer order was there before this one: how the card stands says what that means.
  const overtaken = code === 'superseded' || code === 'version_conflict';
  return overtaken
    ? { kind: 'pending', providerRequestId }
    : { kind: 'refused_for_now', code, providerRequestId };
}

function readStanding(
  answer: ReadStateAnswer,
  wanted: Pick<StateOrder, 'state' | 'version'>,
): Heard {
  if (answer.kind !== 'state') return answer;
  const { providerRequestId, state, version } = answer;
  if (version >= wanted.version) {
    return state === wanted.state
      ? { ...PAID, providerRequestId }
      : { kind: 'pending', providerRequestId };
  }
  return state === 'closed' && wanted.state !== 'closed'
    ? { kind: 'refused', code: 'card_closed', providerRequestId }
    : { kind: 'not_found', providerRequestId };
}

const PAID = { kind: 'paid', amountMinor: null, sessionId: null } as const;
