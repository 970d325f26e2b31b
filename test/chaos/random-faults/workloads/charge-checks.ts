import type { Charge } from '../../../../src/capabilities/charges/record.js';
import type { PaymentToken } from '../../../../src/capabilities/payment-tokens/record.js';
import type { chargeBody, newCustomer } from '../../../support/payments.js';
import type { SentRequest } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';

export type ChargeBody = ReturnType<typeof chargeBody>;
export type TokenBody = { customer: ReturnType<typeof newCustomer> };
/** A page of the acquirer and its customer's choice, which is the same on every visit. Null: the customer leaves. */
export type Page = {
  of: ChaosTenant;
  reference: string;
  token: string | null;
  customer: ChargeBody['customer'];
  url: string | null;
  choice: string | null;
  visited: boolean;
  paid: boolean;
};

export const chargePath = (reference: string) => `/payments/charges/${reference}`;

/** Payment methods that bind a reusable token. */
const REUSABLE = new Set<string | null>(['good', 'later_low_funds_twice', 'later_declined']);

/** Checks the guarantees to clients. test/support compares the ledger with the acquirer's journal. */
export async function checkCharges(
  cluster: ChaosCluster,
  received: ReceivedWebhooks,
  sent: readonly SentRequest<ChargeBody>[],
  tokenRequests: readonly SentRequest<TokenBody>[],
  pages: readonly Page[],
): Promise<string[]> {
  const { db } = cluster.service.deps.database;
  const charges = await db.collection<Charge>('charges').find().toArray();
  const tokens = await db.collection<PaymentToken>('payment_tokens').find().toArray();
  const named = charges.map((charge) => ({ ...charge, _id: charge.reference }));
  return [
    ...answersHold(sent, named),
    ...answersHold(
      tokenRequests.map((one) => ({ ...one, body: { reference: one.body.customer.id } })),
      tokens.map(({ _id, tenant_id, customer }) => ({ _id, tenant_id, reference: customer.id })),
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
    ...pages.flatMap((page) => checkPage(page, charges, tokens)),
    ...(await isolated(cluster, named, {
      one: chargePath,
      list: '/payments/charges',
      posts: (reference) => [
        [`${chargePath(reference)}/verify`],
        ['/payments/refunds', { charge_reference: reference, reference: `foreign-${reference}` }],
      ],
    })),
  ];
}

/** A charge is completed exactly if its customer paid on the page, and the token has the status that the choice implies. */
function checkPage(
  { of, reference, paid, choice, token }: Page,
  charges: readonly Charge[],
  tokens: readonly PaymentToken[],
): string[] {
  const charge = charges.find(
    (one) => one.tenant_id === of.tenant.id && one.reference === reference,
  );
  const bound = tokens.find(({ _id }) => _id === token);
  const problems: string[] = [];
  if (paid !== (charge?.status === 'completed')) {
    problems.push(
      `${reference} was ${paid ? '' : 'not '}paid on its page, and is ${charge?.status}`,
    );
  }
  const wanted = paid && REUSABLE.has(choice) ? 'active' : 'unbound';
  if (token !== null && bound?.status !== wanted) {
    problems.push(`the token of ${reference} is ${bound?.status}, and should be ${wanted}`);
  }
  return problems;
}
