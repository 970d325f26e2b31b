import { readAttempt, type Charge } from '../../../../src/capabilities/charges/record.js';
import type { PaymentToken } from '../../../../src/capabilities/payment-tokens/record.js';
import { readSetupReference } from '../../../../src/capabilities/payment-tokens/setup.js';
import type { RecurringCharge } from '../../../../src/capabilities/recurring-charges/record.js';
import type { JournalEntry } from '../../../support/bank.js';
import type { newCustomer } from '../../../support/payments.js';
import { RECURRING_PATH } from '../../../support/recurring.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import { answersHold, isolated } from '../common-checks.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import type { SentRequest } from '../requests.js';
import type { ChargeBody, TokenBody } from './charge-checks.js';
import { REUSABLE } from './charge-ends.js';

/** A customer who saves a payment method without a payment. `choice` null: the customer leaves the page. */
export type Saver = {
  of: ChaosTenant;
  customer: ReturnType<typeof newCustomer>;
  token: string;
  choice: string | null;
  state: 'asked' | 'visited' | 'saved' | 'over';
  /** The time of the answer that the token is deleted; null before. */
  deletedAt: number | null;
};

/** A recurring charge of a saved method. Periods are counted as the answers to its change and its cancellation show them. */
export type Plan = {
  saver: Saver;
  id: string;
  amountMinor: number;
  changed: { amountMinor: number; chargedPeriods: number } | null;
  /** The run has let a day pass, so that the next period is due. */
  isMovedOn: boolean;
  cancelled: { chargedPeriods: number } | null;
};

/** A request may reach the bank this long after a worker has read its token: the bank rejects older ones, and may be frozen. */
const ON_ITS_WAY_MS = 25_000;

/** The requests and facts of the run. */
type Known = {
  savers: readonly Saver[];
  plans: readonly Plan[];
  charges: readonly SentRequest<ChargeBody>[];
  tokens: readonly SentRequest<TokenBody>[];
};

/** Checks saved methods with their deletions, and recurring charges with their changes and cancellations. */
export async function checkSavedMethods(
  cluster: ChaosCluster,
  received: ReceivedWebhooks,
  { savers, plans, charges: sent, tokens: requested }: Known,
): Promise<string[]> {
  const { db } = cluster.service.deps.database;
  const customers = savers.map(({ customer }) => customer.id);
  const ofSavers = { 'customer.id': { $in: customers } };
  const charges = await db.collection<Charge>('charges').find(ofSavers).toArray();
  const tokens = await db.collection<PaymentToken>('payment_tokens').find(ofSavers).toArray();
  const recurring = await db.collection<RecurringCharge>('recurring_charges').find().toArray();
  const journal = await cluster.service.bank.journal();
  const ordered = charges.filter((charge) => charge.recurring === null);
  return [
    ...answersHold(
      sent,
      ordered.map((charge) => ({ ...charge, _id: charge.reference })),
    ),
    ...answersHold(
      requested.map((one) => ({ ...one, body: { reference: one.body.customer.id } })),
      tokens.map(({ _id, tenant_id, customer }) => ({ _id, tenant_id, reference: customer.id })),
    ),
    ...savers.flatMap((saver) => wrongToken(saver, { tokens, charges, journal })),
    ...plans.flatMap((plan) => wrongPlan(plan, recurring, charges)),
    ...recurring
      .filter(({ _id }) => plans.every(({ id }) => id !== _id))
      .map(({ _id }) => `${_id} is there, and was not requested`),
    ...received.missing([...recurring, ...tokens.map(numbered)]),
    ...(await isolated(cluster, tokens, { one: (id) => `/payments/tokens/${id}` })),
    ...(await isolated(cluster, recurring, {
      one: (id) => `${RECURRING_PATH}/${id}`,
      list: RECURRING_PATH,
      posts: (id) => [[`${RECURRING_PATH}/${id}/cancel`, {}]],
    })),
  ];
}

const numbered = ({ _id, tenant_id, event_sequence = 0 }: PaymentToken) => ({
  _id,
  tenant_id,
  event_sequence,
});

type Found = {
  tokens: readonly PaymentToken[];
  charges: readonly Charge[];
  journal: readonly JournalEntry[];
};

/**
 * A method that was saved makes its token active, until it is deleted. Then the network has revoked it too, and it is charged no
 * more from the answer on, also by a charge that was accepted before.
 */
function wrongToken(
  { token: id, choice, state, deletedAt }: Saver,
  { tokens, charges, journal }: Found,
): string[] {
  const token = tokens.find(({ _id }) => _id === id);
  const isSaved = state === 'saved' || (state === 'visited' && REUSABLE.has(choice));
  const wanted = deletedAt !== null ? 'revoked' : isSaved ? 'active' : 'unbound';
  const problems =
    token?.status === wanted ? [] : [`${id} is ${token?.status}, and should be ${wanted}`];
  if (deletedAt === null) return problems;
  const isRevoked = journal.some(
    ({ kind, reference }) =>
      kind === 'authorization_revoked' && readSetupReference(reference)?.id === id,
  );
  if (isSaved && !isRevoked) problems.push(`${id} is deleted, and the network can still charge it`);
  const own = new Set(
    charges.filter(({ payment_token_id: of }) => of === id).map(({ _id }) => _id),
  );
  const late = journal.filter(
    ({ kind, reference, at }) =>
      kind === 'charged' &&
      own.has(readAttempt(reference)?.id ?? '') &&
      Date.parse(at) > deletedAt + ON_ITS_WAY_MS,
  );
  return [
    ...problems,
    ...late.map(({ reference, at }) => {
      const since = Date.parse(at) - deletedAt;
      return `${reference} was charged ${since} ms after ${id} was deleted`;
    }),
  ];
}

/**
 * Each period is charged once. Those that had been charged when the change was committed have the earlier amount, all later ones
 * the new one. None is charged after the cancellation.
 */
function wrongPlan(
  { id, amountMinor, changed, cancelled }: Plan,
  recurring: readonly RecurringCharge[],
  charges: readonly Charge[],
): string[] {
  const found = recurring.find(({ _id }) => _id === id);
  if (!found) return [`${id} was accepted and is not there`];
  const own = charges.flatMap(({ recurring: of, amount_minor: minor }) =>
    of?.id === id ? [{ period: of.period, minor }] : [],
  );
  const problems = own.flatMap(({ period, minor }) => {
    const isNew = changed !== null && period >= changed.chargedPeriods;
    const wanted = BigInt(isNew ? changed.amountMinor : amountMinor);
    return minor === wanted
      ? []
      : [`period ${period} of ${id} was charged with ${minor} instead of ${wanted}`];
  });
  const periods = new Set(own.map(({ period }) => period));
  if (periods.size !== own.length || own.length !== found.charged_periods) {
    problems.push(`${id} has charged ${found.charged_periods} periods by ${own.length} charges`);
  }
  if (cancelled === null) problems.push(`${id} is ${found.status}, and was never cancelled`);
  else if (found.status !== 'cancelled') problems.push(`${id} was cancelled, is ${found.status}`);
  else if (cancelled.chargedPeriods !== found.charged_periods) {
    problems.push(`${id} was charged after its cancellation`);
  }
  return problems;
}
