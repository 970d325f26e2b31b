import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { doneAfterMs, isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import type { CardDisputeOutcome } from '../shared/journal-effects.js';
import { answered, createRequestHandler, type RequestKind } from '../shared/request-handler.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';
import { disputeBehaviour, NEXT_AFTER_MS } from './behaviours.js';
import type { CardContext } from './context.js';
import { DISPUTE_EVENTS, type DisputeCase } from './dispute-state.js';
import type { CardRecord, DisputeRequest } from './records.js';
import { presentDispute, type disputeOutcomeBody } from './wire.js';

/** The issuer's operations on disputes of payments. */
export type Disputes = {
  submit(order: DisputeRequest): Outcome;
  lookup(name: string): Outcome;
  /** A repeat has no further effect. A decided dispute cannot be withdrawn. */
  withdraw(name: string): Outcome;
  /** Decides a dispute or moves its provisional credit, for tests; finds it by its own or by the client's reference. */
  set(reference: string, setting: z.output<typeof disputeOutcomeBody>): Outcome;
  /** After a start: schedules the steps that were still open at the last stop. */
  resume(): void;
};

const OUTCOMES = {
  submitted: 'card_disputed',
  refused: 'card_dispute_refused',
  credited: 'card_dispute_credited',
  credit_reversed: 'card_dispute_credit_reversed',
  won: 'card_dispute_won',
  lost: 'card_dispute_lost',
} as const satisfies Record<string, CardDisputeOutcome>;

/** The steps of a dispute that takes a course by itself, by the number of reports so far. */
const COURSES: Partial<Record<DisputeCase['behaviour'], readonly CardDisputeOutcome[]>> = {
  credited_then_won: ['card_disputed', 'card_dispute_credited', 'card_dispute_won'],
  credited_then_lost: ['card_disputed', 'card_dispute_credited', 'card_dispute_lost'],
};

/** Creates the part that takes disputes from step to step, now or after the time that their behaviour says. */
function createSteps({ journal, timers }: Pick<CardContext, 'journal' | 'timers'>) {
  function step(cardDispute: number, kind: CardDisputeOutcome, amountMinor: number, at: number) {
    const code = kind === 'card_dispute_refused' ? 'dispute_refused' : null;
    const about = { kind, cardDispute, message_id: randomUUID(), seq: journal.nextSeq() } as const;
    return { ...about, amount_minor: amountMinor, code, at } satisfies CardRecord;
  }

  /** Commits a step, and reports it. */
  function advance(
    dispute: DisputeCase,
    kind: CardDisputeOutcome,
    { amountMinor = dispute.order.amount_minor, report = true, times = 1 } = {},
  ): void {
    const at = Math.max(Date.now(), (dispute.reports.at(-1)?.at ?? 0) + 1);
    const record = step(dispute.number, kind, amountMinor, at);
    const about = { cardDispute: dispute.number, message: dispute.reports.length };
    const isOutOfOrder = dispute.behaviour === 'reported_out_of_order';
    const notice = { about, event: DISPUTE_EVENTS[kind], at, times: isOutOfOrder ? 3 : times };
    if (report) journal.commitAndNotify(record, notice);
    else journal.commit([record]);
    schedule(dispute);
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function schedule(dispute: DisputeCase): void {
    const { status, behaviour, createdAt, updatedAt, reports } = dispute;
    const submitAfterMs = status === 'pending' ? doneAfterMs(behaviour) : null;
    if (submitAfterMs !== null) {
      timers.after(createdAt + submitAfterMs - Date.now(), () => {
        if (dispute.status === 'pending') advance(dispute, 'card_disputed');
      });
    }
    const next = COURSES[behaviour]?.[reports.length];
    if (!next || status !== 'submitted') return;
    const { length } = reports;
    timers.after(updatedAt + NEXT_AFTER_MS - Date.now(), () => {
      if (dispute.status === 'submitted' && dispute.reports.length === length) {
        advance(dispute, next);
      }
    });
  }

  return { step, advance, schedule };
}

/** Creates the part that finds disputes by what a client names, and shows them. */
const createNames = ({ state: { disputes }, lookup, sendsCallbacks }: CardContext) => ({
  present: (dispute: DisputeCase) =>
    lookup.named(
      'dispute',
      dispute,
      presentDispute(dispute, isOutcomeWithheld(dispute, sendsCallbacks)),
    ),
  namedBy: (name: string): DisputeCase | undefined => {
    const reference = lookup.referenceOf('dispute', name, disputes.all);
    return reference === null ? undefined : decisive(disputes.withReference(reference));
  },
});

/** Creates the issuer's disputes. */
export function createDisputes(parts: CardContext): Disputes {
  const { journal, rules } = parts;
  const { disputes, authorizations } = parts.state;
  const { step, advance, schedule } = createSteps(parts);
  const { present, namedBy } = createNames(parts);

  function take(order: DisputeRequest, at: number): DisputeCase {
    const cardDispute = disputes.all.length;
    const behaviour = disputeBehaviour(order.client_reference);
    const payment = authorizations.withToken(order.authorization);
    const isRefused = behaviour === 'refused' || payment?.card.face?.id !== order.card;
    const first = isRefused ? 'card_dispute_refused' : 'card_disputed';
    const isDecided = isRefused || isExecutedAtOnce(behaviour);
    journal.commit([
      { kind: 'dispute_ordered', cardDispute, order, at },
      ...(isDecided ? [step(cardDispute, first, order.amount_minor, at)] : []),
    ]);
    const dispute = disputes.get(cardDispute);
    schedule(dispute);
    return dispute;
  }

  const kind: RequestKind<DisputeRequest, DisputeCase> = {
    what: 'dispute',
    find: ({ reference }) => disputes.withReference(reference).at(-1),
    isSame: ({ order }, repeated) =>
      order.authorization === repeated.authorization &&
      order.amount_minor === repeated.amount_minor &&
      order.reason === repeated.reason,
    behaviourOf: ({ client_reference }) => disputeBehaviour(client_reference),
    keyOf: ({ reference }) => `dispute/${reference}`,
    accept: take,
    present,
  };

  return {
    submit: createRequestHandler(kind, rules),
    lookup(name) {
      const found = namedBy(name);
      if (!found || rules.copy.lacks(found.order.reference)) return noSuchDispute();
      return answer(200, present(found));
    },
    withdraw(name) {
      const found = namedBy(name);
      if (!found) return noSuchDispute();
      const refusal = refusalToWithdraw(found);
      if (refusal) return refusal;
      if (found.status !== 'withdrawn') advance(found, 'card_dispute_withdrawn');
      return answered(found.behaviour, 200, present(found));
    },
    set(reference, { outcome, amount_minor: amountMinor, report, times }) {
      const named = disputes.withReference(reference);
      const found = decisive(named.length > 0 ? named : disputes.withClientReference(reference));
      if (!found) return noSuchDispute();
      const isFirst = outcome === 'submitted' || outcome === 'refused';
      if (isFirst && found.status !== 'pending') {
        return errorAnswer(409, 'already_settled', `the dispute is already ${found.status}`);
      }
      advance(found, OUTCOMES[outcome], { ...(amountMinor && { amountMinor }), report, times });
      return answer(200, presentDispute(found));
    },
    resume(): void {
      for (const dispute of disputes.all) schedule(dispute);
    },
  };
}

/** A decided dispute cannot be withdrawn. */
function refusalToWithdraw({ status, behaviour }: DisputeCase): Outcome | null {
  if (status === 'won' || status === 'lost' || status === 'refused') {
    return errorAnswer(422, 'already_decided', `the dispute is ${status}`);
  }
  return behaviour === 'not_withdrawable'
    ? errorAnswer(422, 'not_withdrawable', 'the dispute cannot be withdrawn')
    : null;
}

/** Selects among disputes with one reference: a refusal does not undo an earlier one. */
const decisive = (all: readonly DisputeCase[]): DisputeCase | undefined =>
  all.findLast(({ status }) => status !== 'refused') ?? all.at(-1);

const noSuchDispute = () =>
  errorAnswer(404, 'dispute_not_found', 'there is no dispute with this reference');
