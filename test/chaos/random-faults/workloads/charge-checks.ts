import { paidMinorOf, type Charge } from '../../../../src/capabilities/charges/record.js';
import { feeMinor } from '../../../../sandbox-bank/acquirer/behaviours.js';
import type { Dispute } from '../../../../src/capabilities/disputes/record.js';
import type { PaymentToken } from '../../../../src/capabilities/payment-tokens/record.js';
import type { chargeBody, newCustomer } from '../../../support/payments.js';
import type { SentRequest } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';
import { END, endOf, REUSABLE } from './charge-ends.js';

export type ChargeBody = ReturnType<typeof chargeBody>;
export type TokenBody = { customer: ReturnType<typeof newCustomer> };
/**
 * A page of the acquirer and its customer's choice, which is the same on every visit. Null: the customer leaves. `decided`: the
 * acquirer decides the chosen payment later.
 */
export type Page = {
  of: ChaosTenant;
  reference: string;
  token: string | null;
  customer: ChargeBody['customer'];
  url: string | null;
  /** Looks for the address that were in vain. */
  looks: number;
  choice: string | null;
  visited: boolean;
  paid: boolean;
  decided?: boolean;
};

/** The beginning of the ids of customers whose tokens and charges are of the workload of saved methods. */
export const SAVER = 'saver-';
const isOther = ({ customer }: Pick<Charge | PaymentToken, 'customer'>) =>
  customer.id.startsWith(SAVER);

/** A charge whose cancellation was answered as done. */
export type Cancelled = { of: ChaosTenant; reference: string };

export const chargePath = (reference: string) => `/payments/charges/${reference}`;

/** The requests and facts of the run. */
type Known = {
  charges: readonly SentRequest<ChargeBody>[];
  tokens: readonly SentRequest<TokenBody>[];
  pages: readonly Page[];
  cancelled: readonly Cancelled[];
};

/** Checks the guarantees to clients. test/support compares the ledger, refunds and disputes with the acquirer's journal. */
export async function checkCharges(
  cluster: ChaosCluster,
  received: ReceivedWebhooks,
  { charges: sent, tokens: tokenRequests, pages, cancelled }: Known,
): Promise<string[]> {
  const { db } = cluster.service.deps.database;
  const charges = await db.collection<Charge>('charges').find().toArray();
  const tokens = await db.collection<PaymentToken>('payment_tokens').find().toArray();
  const disputes = await db.collection<Dispute>('disputes').find().toArray();
  const named = charges.map((charge) => ({ ...charge, _id: charge.reference }));
  const own = named.filter((charge) => !isOther(charge));
  return [
    ...answersHold(sent, own),
    ...answersHold(
      tokenRequests.map((one) => ({ ...one, body: { reference: one.body.customer.id } })),
      tokens
        .filter((token) => !isOther(token))
        .map(({ _id, tenant_id, customer }) => ({ _id, tenant_id, reference: customer.id })),
    ),
    ...received.wrong(
      'charge',
      named.map((charge) => ({
        ...charge,
        endings: charge.status === 'completed' ? ['failed'] : [],
      })),
    ),
    ...charges
      .filter(({ attention }) => attention !== null)
      .map(({ _id, attention }) => `${_id} waits for an operator: ${attention?.reason}`),
    ...charges.flatMap(wrongMoney),
    ...pages.flatMap((page) => checkPage(page, charges, tokens)),
    ...cancelled.flatMap((one) => wrongCancellation(one, charges, received)),
    ...disputes.flatMap((dispute) => wrongEvents(received, dispute)),
    ...(await isolated(cluster, named, {
      one: chargePath,
      list: '/payments/charges',
      posts: (reference) => [
        [`${chargePath(reference)}/verify`],
        ['/payments/refunds', { charge_reference: reference, reference: `foreign-${reference}` }],
      ],
    })),
    ...(await isolated(cluster, disputes, {
      one: (id) => `/payments/disputes/${id}`,
      list: '/payments/disputes',
    })),
  ];
}

/** Nothing is left in suspense, and a completed charge has the acquirer's fee, also one that was told later, and its surcharge. */
function wrongMoney(charge: Charge): string[] {
  const { _id: id, status, suspended, reference, provider_fee_minor: fee } = charge;
  const left = suspended.map(({ attempt }) => `the payment of ${id}-${attempt} is in suspense`);
  if (status !== 'completed') return left;
  const usual = BigInt(feeMinor(Number(paidMinorOf(charge))));
  const isSurcharged = endOf(reference) === END.surcharged;
  const [wantedFee, wantedSurcharge] = isSurcharged ? [0n, usual] : [usual, null];
  return [
    ...left,
    ...(fee === wantedFee ? [] : [`${id} has the fee ${fee}, and should have ${wantedFee}`]),
    ...(charge.surcharge_minor === wantedSurcharge
      ? []
      : [`${id} has the surcharge ${charge.surcharge_minor}, and should have ${wantedSurcharge}`]),
  ];
}

/**
 * A charge that was answered as cancelled has failed, and its tenant was told so once. A payment that is proven later completes it
 * or is returned; test/support compares that with the acquirer's journal.
 */
function wrongCancellation(
  { of: { tenant }, reference }: Cancelled,
  charges: readonly Charge[],
  received: ReceivedWebhooks,
): string[] {
  const charge = charges.find((one) => one.tenant_id === tenant.id && one.reference === reference);
  const times = received.times(tenant.id, reference, 'charge.failed');
  const codes: readonly string[] = ['cancelled', 'payment_mismatch', 'payment_returned'];
  const isSo = charge?.status === 'completed' || codes.includes(charge?.failure?.code ?? '');
  return [
    ...(times === 1 ? [] : [`${reference} was cancelled, and ${times} webhooks say it failed`]),
    ...(isSo ? [] : [`${reference} was cancelled, and is ${charge?.status}`]),
  ];
}

/** A dispute is told once when it is opened, and once when it is decided. */
function wrongEvents(
  received: ReceivedWebhooks,
  { _id: id, tenant_id: tenantId, status }: Dispute,
): string[] {
  const wanted = {
    disputed: 1,
    dispute_won: status === 'won' ? 1 : 0,
    dispute_lost: status === 'lost' ? 1 : 0,
  };
  return Object.entries(wanted).flatMap(([event, times]) => {
    const found = received.times(tenantId, id, `charge.${event}`);
    return found === times
      ? []
      : [`${id} is ${status}, and charge.${event} was received ${found} times`];
  });
}

/** True if the whole payment, which was not of the requested amount, is with the customer again. */
const isReturned = ({ status, returned_attempts: returned, failure }: Charge): boolean =>
  status === 'failed' && returned.length > 0 && failure !== null;

/** Declines after which a token is revoked. */
const NEVER_AGAIN: ReadonlySet<string> = new Set([
  'authorization_revoked',
  'expired_card',
  'stolen_card',
]);

/** The statuses that a token may have after the payment that binds it, and after the charges of it that were declined. */
function tokenStatuses(
  page: Pick<Page, 'token' | 'paid' | 'choice'>,
  charge: Charge | undefined,
  charges: readonly Charge[],
): PaymentToken['status'][] {
  const isBound = page.paid && REUSABLE.has(page.choice) && charge?.status === 'completed';
  if (!isBound) return ['unbound'];
  const isRevoked = charges.some(
    ({ payment_token_id: token, capture_mode: mode, failure }) =>
      token === page.token && mode === 'merchant_initiated' && NEVER_AGAIN.has(failure?.code ?? ''),
  );
  if (isRevoked) return ['revoked'];
  // After an acceptance the provider is asked for the method once, and may not answer.
  return charge.settled_amount_minor === null ? ['active'] : ['active', 'unbound'];
}

/**
 * A charge is completed exactly if its customer paid on the page and the payment was not returned, and the token has the status
 * that the choice implies.
 */
function checkPage(
  page: Page,
  charges: readonly Charge[],
  tokens: readonly PaymentToken[],
): string[] {
  const { of, reference, paid, token } = page;
  const charge = charges.find(
    (one) => one.tenant_id === of.tenant.id && one.reference === reference,
  );
  const bound = tokens.find(({ _id }) => _id === token);
  const problems: string[] = [];
  const isPaid = charge !== undefined && (charge.status === 'completed' || isReturned(charge));
  // The page of a cancelled charge says nothing to its customer, who seems to have paid.
  if (charge?.cancel_requested_at == null && paid !== isPaid) {
    problems.push(
      `${reference} was ${paid ? '' : 'not '}paid on its page, and is ${charge?.status}`,
    );
  }
  const wanted = tokenStatuses(page, charge, charges);
  if (token !== null && !wanted.some((status) => status === bound?.status)) {
    problems.push(`the token of ${reference} is ${bound?.status}, and should be ${wanted[0]}`);
  }
  return problems;
}
