import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type {
  CardIssuer,
  CardStateRequest,
  IssuerCardState,
  ReadStateAnswer,
  SetStateAnswer,
} from '../../core/providers/card-issuer.js';
import { applyReportedState } from './locks.js';

/** An answer about the state of a card, with the time of its latest change: that of the question, if the issuer does not tell. */
export type DatedState =
  | Exclude<ReadStateAnswer, { kind: 'state' }>
  | (Extract<ReadStateAnswer, { kind: 'state' }> & { at: Date });

/** Reads the state of a card at its issuer, by the issuer's id. */
export async function readCardState(
  issuer: Pick<CardIssuer, 'readState'>,
  card: string,
  signal: AbortSignal,
): Promise<DatedState> {
  const askedAt = new Date();
  const answer = await issuer.readState(card, signal);
  return answer.kind === 'state' ? { ...answer, at: answer.changedAt ?? askedAt } : answer;
}

type StateSeen = Extract<DatedState, { kind: 'state' }>;
type Refused = Extract<SetStateAnswer, { kind: 'rejected' }>;

/** A change of a card's state as its issuer executes it. `isReset`: the state may be there already. */
type Change = {
  tenantId: string;
  /** Our ids of the card and of the operation. */
  cardId: string;
  operationId: string;
  wanted: Omit<CardStateRequest, 'requestedAt'>;
  /** The sequence number of the card's own changes now: after a later one, no answer proves a change of the issuer. */
  sequence: number;
  isReset: boolean;
};

/** The calls that set the state of a card, and verify it. A change of the issuer that ends the operation is applied first. */
export function cardStateCalls(
  { issuer, groupCommit }: { issuer: CardIssuer; groupCommit: GroupCommit },
  { tenantId, cardId, operationId, wanted, sequence, isReset }: Change,
) {
  const isOrdered = issuer.cards.stateSequence === 'issuer';
  const read = (signal: AbortSignal) => readCardState(issuer, wanted.card, signal);

  /** Null: a later change was reported, so the answer proves nothing. */
  async function end(of: StateSeen, code: string): Promise<ProviderOutcome | null> {
    const { state: kind, at, providerRequestId } = of;
    const state = { kind, changedBy: 'issuer' } as const;
    const reported = { tenantId, card: cardId, state, at, sequence };
    const { verdict } = await groupCommit.commit(applyReportedState, reported);
    return verdict === 'stale' ? null : { kind: 'rejected', code, providerRequestId };
  }

  /** The issuer has executed the request, and has opened the card by itself since: the operation ends, and the card is locked again. */
  async function undone({ at, providerRequestId }: StateSeen): Promise<ProviderOutcome | null> {
    const state = { kind: 'open', changedBy: 'issuer' } as const;
    const reported = { tenantId, card: cardId, state, at, sequence, executed: operationId };
    const { verdict } = await groupCommit.commit(applyReportedState, reported);
    return verdict === 'stale' ? null : { ...SUCCEEDED, providerRequestId };
  }

  async function verify(signal: AbortSignal): Promise<ProviderOutcome> {
    const seen = await read(signal);
    if (seen.kind !== 'state') return seen;
    const code = endIn(seen, wanted.state);
    const isUndone = isOrdered && isUndoneByIssuer(seen, wanted);
    if (code === null && !isUndone) return readStateAnswer(seen, wanted, isOrdered);
    const { providerRequestId } = seen;
    const ended = code === null ? await undone(seen) : await end(seen, code);
    return ended ?? { kind: 'unknown', reason: 'conflict', providerRequestId };
  }

  /** A refusal for good names no time, and a later change of the issuer may have been reported: the state proves it. */
  async function refused(answer: Refused, signal: AbortSignal): Promise<ProviderOutcome> {
    const { code, providerRequestId } = answer;
    const seen = await read(signal);
    // The card is closed already, so there is nothing to refuse.
    if (seen.kind === 'state' && seen.state === 'closed' && wanted.state === 'closed') {
      return { ...SUCCEEDED, providerRequestId: seen.providerRequestId };
    }
    const isProven = seen.kind === 'state' && seen.state === PROVEN_BY.get(code);
    const ended = isProven ? await end(seen, code) : null;
    return ended ?? { kind: 'rejected_temporarily', code, providerRequestId };
  }

  /** Where the issuer keeps no order, the state is read after each write; a reset reads it before, too. */
  async function submit(requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> {
    const before = !isOrdered && isReset ? await verify(signal) : null;
    if (before && before.kind !== 'not_found') return before;
    const answer = await issuer.setState({ ...wanted, requestedAt }, signal);
    if (answer.kind === 'rejected' && PROVEN_BY.has(answer.code)) return refused(answer, signal);
    const outcome = readSubmitAnswer(answer);
    if (isOrdered || outcome.kind !== 'succeeded') return outcome;
    const after = await verify(signal);
    const { providerRequestId } = after;
    return after.kind === 'not_found' ? { kind: 'pending', providerRequestId } : after;
  }

  return { submit, verify };
}

/**
 * Rejections that no repeat changes, and the state that proves each: a closed card stays closed, and a lock of the issuer is not
 * undone by us.
 */
const PROVEN_BY: ReadonlyMap<string, IssuerCardState> = new Map([
  ['card_closed', 'closed'],
  ['locked_by_issuer', 'locked'],
]);

/** The outcome of a state request. Rejections are temporary here. */
function readSubmitAnswer(answer: SetStateAnswer): ProviderOutcome {
  const { providerRequestId } = answer;
  if (answer.kind === 'set') return { ...SUCCEEDED, providerRequestId };
  if (answer.kind !== 'rejected') return answer;
  const { code } = answer;
  // A newer request was applied first. Verifying reads the card's state and decides.
  const overtaken = code === 'superseded' || code === 'version_conflict';
  return overtaken
    ? { kind: 'pending', providerRequestId }
    : { kind: 'rejected_temporarily', code, providerRequestId };
}

/** The change of the issuer that keeps the card from this state for good; null if there is none. */
function endIn({ state, changedBy }: StateSeen, wanted: IssuerCardState): string | null {
  if (state === 'closed' && wanted !== 'closed') return 'card_closed';
  const isKept = state === 'locked' && changedBy === 'issuer' && wanted === 'open';
  return isKept ? 'locked_by_issuer' : null;
}

/** True if the state was set with our version, and opened by the issuer after that. */
const isUndoneByIssuer = (
  { state, changedBy, version }: StateSeen,
  wanted: Pick<CardStateRequest, 'state' | 'version'>,
): boolean =>
  version === wanted.version &&
  wanted.state === 'locked' &&
  state === 'open' &&
  changedBy === 'issuer';

function readStateAnswer(
  { providerRequestId, state, version }: StateSeen,
  wanted: Pick<CardStateRequest, 'state' | 'version'>,
  isOrdered: boolean,
): ProviderOutcome {
  const isSet = state === wanted.state;
  if (!isOrdered) return { ...(isSet ? SUCCEEDED : NOT_FOUND), providerRequestId };
  if (version < wanted.version) return { ...NOT_FOUND, providerRequestId };
  return isSet ? { ...SUCCEEDED, providerRequestId } : { kind: 'pending', providerRequestId };
}

const NOT_FOUND = { kind: 'not_found' } as const;
const SUCCEEDED = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;
