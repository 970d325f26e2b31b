import { readAll } from '../../core/providers/pages.js';
import type {
  Dispute as TheirDispute,
  PaymentProvider,
  Refund as TheirRefund,
} from '../../core/providers/payment-provider.js';
import { NOT_ASKED, type Trace } from '../../core/providers/port.js';
import { isId } from '../../shared/ids.js';
import { aboutAttempt, type Charge } from '../charges/record.js';
import type { Charges } from '../charges/index.js';
import type { Refunds } from '../refunds/index.js';
import { inBookingOrder, type Dispute } from './record.js';
import { reasonIn } from './provider-events.js';
import type { Disputes } from './store.js';

type Deps = {
  charges: Pick<Charges, 'applyFact'>;
  disputes: Pick<Disputes, 'applyFact'>;
  refunds: Pick<Refunds, 'recordDeskRefund' | 'byProviderId'>;
  providers: { payment(name: string): PaymentProvider };
};

/** Reads what a verified charge has lost since it was paid; see `readAfterVerify`. */
export type ReadAfterVerify = ReturnType<typeof createDisputeReaders>['readAfterVerify'];

/**
 * Looks a dispute up at its provider, by its charge, at any age. `theirs` is null without an answer (`isAnswered`), or if the
 * provider does not list it. `takeTurn` waits before each call.
 */
export async function readDispute(
  providers: Deps['providers'],
  charge: Charge,
  { provider, provider_dispute_id: theirId }: Pick<Dispute, 'provider' | 'provider_dispute_id'>,
  {
    signal,
    takeTurn = async () => undefined,
  }: { signal: AbortSignal; takeTurn?: () => Promise<void> },
): Promise<
  Pick<Trace, 'providerRequestId'> & { theirs: TheirDispute | null; isAnswered: boolean }
> {
  const { findDisputes } = providers.payment(provider);
  const mayGoOn = async () => (await takeTurn(), true);
  const about = { ...aboutAttempt(charge), since: charge.created_at, mayGoOn };
  const answer = await readAll(async (cursor) => {
    await takeTurn();
    return findDisputes({ ...about, cursor }, signal);
  });
  const found = answer.kind === 'all' ? answer.items.find(({ id }) => id === theirId) : undefined;
  const isAnswered = answer.kind !== 'unknown';
  return { theirs: found ?? null, isAnswered, providerRequestId: answer.providerRequestId };
}

/** Bounds of a reading. `mayCall` is asked before each call; false ends the reading without an answer. */
type Reading = { signal: AbortSignal; mayCall: () => Promise<boolean> };

const always = () => Promise.resolve(true);

const aboutOf = (charge: Charge) => ({ ...aboutAttempt(charge), since: charge.created_at });

const findDisputes = (provider: PaymentProvider, charge: Charge, { signal, mayCall }: Reading) =>
  readAll(async (cursor) =>
    (await mayCall())
      ? provider.findDisputes({ ...aboutOf(charge), cursor, mayGoOn: mayCall }, signal)
      : NOT_ASKED,
  );

/** The refunds of a charge, in a list that is read from now on, which questions that come together share. */
function findRefunds(provider: PaymentProvider, charge: Charge, { signal, mayCall }: Reading) {
  const about = { ...aboutOf(charge), newEnough: new Date(), mayGoOn: mayCall };
  return readAll(async (cursor) =>
    (await mayCall()) ? provider.findRefunds({ ...about, cursor }, signal) : NOT_ASKED,
  );
}

/** Books the disputes of a charge as its provider lists them. */
async function bookDisputes(
  disputes: Deps['disputes'],
  charge: Charge,
  { items, providerRequestId }: Trace & { items: readonly TheirDispute[] },
): Promise<void> {
  for (const dispute of inBookingOrder(items)) {
    const { amountMinor, currency, state, byReversal = false, funds, dueAt } = dispute;
    const said = { amountMinor, currency, state, byReversal, funds, dueAt };
    const fact = { ...polled(providerRequestId), ...said };
    await disputes.applyFact(
      charge,
      { attempt: charge.attempt, providerDisputeId: dispute.id },
      { ...fact, reason: reasonIn(dispute) },
    );
  }
}

/** Creates the readers of what a provider knows about a charge that was paid: its disputes, and its refunds. */
export function createDisputeReaders(deps: Deps) {
  const { charges, disputes, refunds, providers } = deps;
  /**
   * Books how a charge that its provider reports as reversed was taken back: the refunds of the provider's desk and the
   * disputes, each once. A payment that was not known before is booked first, if they make up its amount. If they explain less
   * of a completed charge than its whole amount, an operator is called.
   */
  async function readTakenBack(
    charge: Charge,
    signal: AbortSignal,
    mayCall: Reading['mayCall'] = always,
  ): Promise<void> {
    const provider = providers.payment(charge.provider);
    const refunded = await findRefunds(provider, charge, { signal, mayCall });
    if (refunded.kind !== 'all') return;
    const disputed = await findDisputes(provider, charge, { signal, mayCall });
    if (disputed.kind !== 'all') return;
    const made = once(refunded.items).filter((refund) => isDeskRefundOf(charge, refund));
    const takenMinor =
      sumOf(made) + sumOf(once(disputed.items).filter(({ state }) => state !== 'won'));
    if (charge.status !== 'completed' && takenMinor === charge.amount_minor) {
      await charges.applyFact(charge, {
        ...polled(refunded.providerRequestId),
        attempt: charge.attempt,
        kind: 'succeeded',
        amountMinor: takenMinor,
        surchargeMinor: 0n,
        currency: charge.currency,
        feeMinor: null,
        method: null,
      });
    }
    for (const { id, amountMinor } of made) {
      const { attempt } = charge;
      // The record of one that we have ordered books it.
      if (id === null || (await refunds.byProviderId(charge, id))) continue;
      await refunds.recordDeskRefund(charge, { attempt, providerRefundId: id, amountMinor });
    }
    await bookDisputes(disputes, charge, disputed);
    // The end of a refund that is under way at the provider explains it, and is booked once it is reported.
    if (refunded.items.some((refund) => isUnderWay(charge, refund))) return;
    const isStill = await isStillReversed(provider, charge, disputed.items, { signal, mayCall });
    if (!isStill) return;
    const { attempt } = charge;
    await charges.applyFact(charge, {
      ...polled(disputed.providerRequestId),
      attempt,
      kind: 'taken_back',
    });
  }

  return {
    readTakenBack,

    /**
     * Reads what became of a charge that was just asked about. `kind`: the answer. A provider reports a paid charge as paid while
     * a dispute of it is open, so its disputes are booked as well, also if their messages never came. `mayCall` bounds the calls.
     */
    async readAfterVerify(
      charge: Charge,
      kind: string,
      signal: AbortSignal,
      mayCall: Reading['mayCall'] = always,
    ): Promise<void> {
      if (kind === 'reversed') return readTakenBack(charge, signal, mayCall);
      if (charge.status !== 'completed') return;
      const provider = providers.payment(charge.provider);
      const disputed = await findDisputes(provider, charge, { signal, mayCall });
      if (disputed.kind === 'all') await bookDisputes(disputes, charge, disputed);
    },
  };
}

const polled = (providerRequestId: string | null) =>
  ({ via: 'poll', actor: null, note: null, providerRequestId }) as const;

/** True unless the charge is paid again: a dispute that is not lost may have been won since the provider reported it as reversed. */
async function isStillReversed(
  provider: PaymentProvider,
  charge: Charge,
  disputed: readonly TheirDispute[],
  { signal, mayCall }: Reading,
): Promise<boolean> {
  if (disputed.every(({ state }) => state === 'lost')) return true;
  if (!(await mayCall())) return false;
  return (await provider.verifyCharge(aboutAttempt(charge), signal)).kind === 'reversed';
}

/** A list of refunds may have those of other charges. */
const isOf = (charge: Charge, refund: TheirRefund): boolean =>
  refund.charge.reference === aboutAttempt(charge).reference;

/** True for a refund of this charge that has not ended at the provider. */
const isUnderWay = (charge: Charge, refund: TheirRefund): boolean =>
  isOf(charge, refund) && (refund.state === 'pending' || refund.state === 'needs_account');

/** True for a refund of this charge that was made at the provider's own desk, and is no dispute's money. */
const isDeskRefundOf = (charge: Charge, refund: TheirRefund): boolean =>
  isOf(charge, refund) &&
  refund.state === 'succeeded' &&
  refund.dispute === null &&
  (refund.marker === null || !isId('refund', refund.marker));

/** Pages shift while a list grows, so that one row may be on two of them: the newer reading counts. */
const once = <Row extends { id: string | null }>(rows: readonly Row[]): Row[] => [
  ...new Map(rows.map((row, i) => [row.id ?? i, row])).values(),
];

const sumOf = (all: readonly Pick<TheirDispute, 'amountMinor'>[]): bigint =>
  all.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
