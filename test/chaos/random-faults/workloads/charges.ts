import { eventually } from '../../../support/eventually.js';
import {
  chargeBody,
  newCustomer,
  onPage,
  paymentClient,
  type ChargeView,
} from '../../../support/payments.js';
import type { Workload } from '../workload.js';
import { createRequests } from '../requests.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import {
  chargePath,
  checkCharges,
  type ChargeBody,
  type Page,
  type TokenBody,
} from './charge-checks.js';
import { chooseOf, pickRecent, untilDone } from './choosing.js';

/** Outcomes by the ends of references and by test cards; see docs/guide/test-values.md. */
const PAGES = ['789', '789', '789', '789', '001', '007', '009', '010'] as const;
const CHARGES = ['789', '789', '789', '789', '789', '001', '002', '013', '003'] as const;
const DOUBTFUL_CHARGES = ['004', '007', '009', '010'] as const;
const CHOICES = [
  [50, 'good'],
  [8, 'later_low_funds_twice'],
  [4, 'later_declined'],
  [6, 'once'],
  [8, 'low_funds'],
  [4, 'stolen'],
  [8, null],
] as const;
const PAID_AT_FIRST = 4;

/**
 * `completed` may follow `failed`, because a payment can be confirmed later. A soft decline returns to `pending` until
 * the next attempt.
 */
const OPEN = ['pending', 'processing', 'requires_action'];
const ALLOWED_TRANSITIONS = {
  pending: [...OPEN, 'completed', 'failed'],
  processing: [...OPEN, 'completed', 'failed'],
  requires_action: [...OPEN, 'completed', 'failed'],
  failed: ['completed'],
  completed: [],
};

export function createCharges(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const tokens = createRequests<TokenBody>(cluster, random, problems);
  const charges = createRequests<ChargeBody>(cluster, random, problems);
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const pages: Page[] = [];
  const counts = { pages_left: 0, pages_paid: 0, pages_declined: 0, verified: 0 };

  const clientOf = ({ tenant }: ChaosTenant) =>
    paymentClient(tenant.at(random.pick(cluster.service.apis).url));

  /** Amounts differ, so that the checks detect swapped amounts. */
  const anyAmount = () => Math.round(random.between(200_000, 400_000));

  async function ask(of: ChaosTenant, body: ChargeBody) {
    return charges.send({ of, path: '/payments/charges', body, key: `chaos ${body.reference}` });
  }

  /** A charge on the acquirer's page; most of them also bind a new token. */
  async function begin(): Promise<void> {
    const of = cluster.anyTenant(random);
    const customer = newCustomer();
    const path = '/payments/tokens/card';
    const token = random.chance(0.8)
      ? (await tokens.send({ of, path, body: { customer }, key: `chaos ${customer.id}` })).id
      : null;
    const bound = token !== null && { payment_token_id: token };
    const body = chargeBody(random.pick(PAGES), {
      amount_minor: anyAmount(),
      customer,
      return_url: 'https://shop.example/paid',
      ...bound,
    });
    const { status } = await ask(of, body);
    const choice = chooseOf<string | null>(random, CHOICES);
    const about = { of, reference: body.reference, token, customer, choice };
    if (status === 201) pages.push({ ...about, url: null, visited: false, paid: false });
  }

  /** The customer visits a page, which may have expired, sometimes twice as browsers do, and may not return from it. */
  async function visit(): Promise<void> {
    const waiting = pages.filter(({ visited }) => !visited);
    const page = random.pick(waiting.length > 0 && random.chance(0.8) ? waiting : pages);
    page.url ??= await findUrl(page);
    if (page.url === null) return;
    page.visited = true;
    const { url, choice } = page;
    const submit = async () =>
      untilDone(cluster, random, async () => {
        const answered = await onPage(url, choice);
        return answered.status >= 500 ? null : answered;
      });
    const [answered] = await Promise.all(random.chance(0.2) ? [submit(), submit()] : [submit()]);
    if (!answered) return;
    if (answered.status !== 303) problems.push(`the page of ${page.reference}: ${answered.status}`);
    if (choice === null) counts.pages_left += 1;
    else if (choice === 'low_funds' || choice === 'stolen') counts.pages_declined += 1;
    else if (!page.paid) {
      page.paid = true;
      counts.pages_paid += 1;
    }
    const back = new URL(String(answered.headers.get('location')));
    if (random.chance(0.6)) await verify(page, String(back.searchParams.get('reference')));
  }

  /** Reads the page's URL from the charge; null until the page exists. */
  async function findUrl({ of, reference }: Page): Promise<string | null> {
    const found = await get<ChargeView>(of, chargePath(reference));
    return found?.next_action?.url ?? null;
  }

  async function verify({ of }: Pick<Page, 'of'>, reference: string): Promise<void> {
    const reply = await untilDone(cluster, random, async () => {
      const answered = await clientOf(of).verify(reference);
      return answered.status >= 500 || answered.status === 429 ? null : answered;
    });
    if (!reply) return;
    if (reply.status === 200) counts.verified += 1;
    else problems.push(`${reference} can't be verified: ${reply.text}`);
  }

  /** Charges a token without its customer. A token that is not bound yet is refused. */
  async function chargeToken(): Promise<void> {
    const paid = pages.filter(({ paid: done, token }) => done && token !== null);
    if (paid.length === 0) return begin();
    const { of, token, customer } = random.pick(paid);
    const body = chargeBody(random.pick(random.chance(0.2) ? DOUBTFUL_CHARGES : CHARGES), {
      amount_minor: anyAmount(),
      capture_mode: 'merchant_initiated',
      payment_token_id: token,
      customer,
    });
    await ask(of, body);
  }

  async function verifyAny(): Promise<void> {
    const known = charges.sent.filter(({ answer }) => answer?.status === 201);
    if (known.length === 0) return begin();
    const { of, body } = pickRecent(random, known);
    await verify({ of }, body.reference);
  }

  const acts: readonly (readonly [number, () => Promise<void>])[] = [
    [30, begin],
    [35, visit],
    [30, chargeToken],
    [5, verifyAny],
  ];

  return {
    name: 'charges',
    weight: 2.2,
    /** Waits for some paid charges, which token charges and refunds need. */
    async prepare() {
      await eventually('customers who have paid before the random-fault run', async () => {
        await begin();
        await visit();
        return counts.pages_paid >= PAID_AT_FIRST ? true : undefined;
      });
    },
    act: async () => (pages.length === 0 ? begin() : chooseOf(random, acts)()),
    async look() {
      const known = charges.sent.filter(({ answer }) => answer?.status === 201);
      if (known.length === 0) return;
      const { of, body } = pickRecent(random, known);
      const { reference: id } = body;
      await look({ of, path: chargePath(id), id });
    },
    repeat: async () => (await tokens.repeat()) + (await charges.repeat()),
    check: (received) => checkCharges(cluster, received, charges.sent, tokens.sent, pages),
    figures: () => ({
      tokens: tokens.sent.length,
      requests: charges.sent.length,
      charges: charges.sent.filter(({ answer }) => answer?.status === 201).length,
      without_customer: charges.sent.filter(
        ({ body, answer }) => body.capture_mode === 'merchant_initiated' && answer?.status === 201,
      ).length,
      ...counts,
      reads: reads(),
    }),
    problems,
  };
}
