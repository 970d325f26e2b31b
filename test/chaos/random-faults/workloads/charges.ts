import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { NEXT_AFTER_MS } from '../../../../sandbox-bank/acquirer/behaviours.js';
import type { Dispute } from '../../../../src/capabilities/disputes/record.js';
import type { disputeResource } from '../../../../src/capabilities/disputes/schema.js';
import { eventually } from '../../../support/eventually.js';
import {
  chargeBody,
  newCustomer,
  onPage,
  paymentClient,
  type ChargeView,
} from '../../../support/payments.js';
import type { Workload } from '../workload.js';
import { createRequests, PASSING } from '../requests.js';
import { createPaymentOperators } from '../payment-operators.js';
import { storeRefuses } from '../disturbances.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import {
  chargePath,
  checkCharges,
  type Cancelled,
  type ChargeBody,
  type Page,
  type TokenBody,
} from './charge-checks.js';
import {
  CHARGES,
  CHOICES,
  CONFIRMATIONS,
  DECLINED,
  END,
  endOf,
  FIRST_PAGES,
  PAGES,
} from './charge-ends.js';
import { chooseOf, pickRecent, setOnceThere, untilDone } from './choosing.js';

const RETURN_URL = 'https://shop.example/paid';
const PAID_AT_FIRST = 4;
const NEW_PAGE = { url: null, looks: 0, visited: false, paid: false };
/** Customers who wait for the address of a page, and looks of one for it. */
const MOST_WAITING = 15;
const MOST_LOOKS = 10;
/** A charge is pending for long enough that a fail-over of the network hides it from several polls. */
const PENDING_MS = [5_000, 25_000] as const;
/** The outcome is set again after this, so that a second execution of a charge would be paid too. */
const AGAIN_AFTER_MS = 15_000;
/** Longest wait for decisions that are under way when the run ends. */
const DECIDED_WITHIN_MS = 60_000;

type DisputeView = z.infer<typeof disputeResource>;

/**
 * `completed` may follow `failed`, because a payment can be confirmed later. A soft decline returns to `pending` until
 * the next attempt. The last three are those of disputes.
 */
const OPEN = ['pending', 'processing', 'requires_action'];
const ALLOWED_TRANSITIONS = {
  pending: [...OPEN, 'completed', 'failed'],
  processing: [...OPEN, 'completed', 'failed'],
  requires_action: [...OPEN, 'completed', 'failed'],
  failed: ['completed'],
  completed: [],
  open: ['won', 'lost'],
  won: [],
  lost: [],
};

/** Charges of the random-fault run, with the customers at their pages, and the people who decide what waits for one. */
export function createCharges(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const tokens = createRequests<TokenBody>(cluster, random, problems);
  const charges = createRequests<ChargeBody>(cluster, random, problems);
  const { look, get, reads } = createStateReader(cluster, random, ALLOWED_TRANSITIONS, problems);
  const operators = createPaymentOperators(cluster);
  const { bank, deps } = cluster.service;
  const pages: Page[] = [];
  const cancelled: Cancelled[] = [];
  const counts = {
    pages_left: 0,
    pages_paid: 0,
    pages_declined: 0,
    verified: 0,
    cancellations: 0,
    outcomes_set: 0,
    words_explained: 0,
    suspense_accepted: 0,
    suspense_returned: 0,
    disputes_decided: 0,
  };
  /** Decisions about pending charges that are under way. */
  const deciding: Promise<void>[] = [];
  /** The network's references of payments that it reports with a word that Bursar does not know. */
  const unclear: string[] = [];
  /** Disputes that tenants have seen in their lists. */
  const seen = new Map<string, ChaosTenant>();

  const clientOf = ({ tenant }: ChaosTenant) =>
    paymentClient(tenant.at(random.pick(cluster.service.apis).url));

  /** Amounts differ, so that the checks detect swapped amounts. */
  const anyAmount = () => Math.round(random.between(200_000, 400_000));

  async function ask(of: ChaosTenant, body: ChargeBody) {
    return charges.send({ of, path: '/payments/charges', body, key: `chaos ${body.reference}` });
  }

  const unvisited = () => pages.filter(({ visited }) => !visited);

  /** A charge on the acquirer's page; most of them also bind a new token. Customers who wait come first. */
  async function begin(): Promise<void> {
    if (unvisited().length > MOST_WAITING) return visit();
    await order(chooseOf<string>(random, PAGES), chooseOf<string | null>(random, CHOICES));
  }

  /** A charge whose reference ends so, on whose page the customer makes this choice. */
  async function order(end: string, choice: string | null): Promise<void> {
    const of = cluster.anyTenant(random);
    const customer = newCustomer();
    const path = '/payments/tokens/card';
    const token = random.chance(0.8)
      ? (await tokens.send({ of, path, body: { customer }, key: `chaos ${customer.id}` })).id
      : null;
    const bound = token !== null && { payment_token_id: token };
    const body = chargeBody(end, {
      amount_minor: anyAmount(),
      customer,
      return_url: RETURN_URL,
      ...bound,
    });
    const { status } = await ask(of, body);
    const about = { of, reference: body.reference, token, customer, choice };
    if (status === 201) pages.push({ ...about, ...NEW_PAGE });
  }

  /** The customer visits a page, which may have expired, sometimes twice as browsers do, and may not return from it. */
  async function visit(): Promise<void> {
    // The first ones most likely have their addresses.
    const waiting = unvisited().slice(0, MOST_WAITING);
    const page = random.pick(waiting.length > 0 && random.chance(0.8) ? waiting : pages);
    page.url ??= await findUrl(page);
    page.visited ||= page.url !== null || (page.looks += 1) === MOST_LOOKS;
    if (page.url === null) return;
    const { url, choice, reference } = page;
    const isOpenAfterDecline = endOf(reference) === END.declinedFirst;
    const submit = async () => {
      if (isOpenAfterDecline) await answerOf(url, 'low_funds');
      return answerOf(url, choice);
    };
    const [answered] = await Promise.all(random.chance(0.2) ? [submit(), submit()] : [submit()]);
    if (!answered) return;
    const isDeclined = DECLINED.has(choice);
    const fits = answered.status === 303 || (answered.status === 200 && isOpenAfterDecline);
    if (!fits) problems.push(`the page of ${reference}: ${answered.status}`);
    if (choice === null) counts.pages_left += 1;
    else if (isDeclined) counts.pages_declined += 1;
    const location = answered.headers.get('location');
    if (location === null) return;
    const back = new URL(location).searchParams.get('reference');
    if (!isDeclined && choice !== null) onPaid(page, String(back));
    if (random.chance(0.6)) await verify(page, String(back));
  }

  const answerOf = (url: string, choice: string | null) =>
    untilDone(cluster, random, async () => {
      const answered = await onPage(url, choice);
      return answered.status >= 500 ? null : answered;
    });

  /** The customer has chosen a method that pays. `attempt`: the network's reference of this page. */
  function onPaid(page: Page, attempt: string): void {
    const end = endOf(page.reference);
    if (page.paid || page.decided) return;
    if (end === END.pending) {
      page.decided = true;
      const outcome = random.chance(0.8) ? 'paid' : 'declined';
      void decideLater(attempt, outcome, () => (page.paid = outcome === 'paid'));
      return;
    }
    page.paid = true;
    counts.pages_paid += 1;
    if (end === END.unknownWord) unclear.push(attempt);
  }

  /** The network decides a pending charge, as soon as it has it. */
  function decideLater(
    reference: string,
    outcome: 'paid' | 'declined',
    then: () => unknown = () => undefined,
  ): Promise<void> {
    const set = () => bank.setChargeOutcome(reference, outcome);
    const decided = (async () => {
      await sleep(random.between(...PENDING_MS));
      if ((await setOnceThere(cluster, random, set)) === 200) then();
      counts.outcomes_set += 1;
    })();
    deciding.push(decided);
    return decided;
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
    const { of, token, customer, choice: method } = random.pick(paid);
    const body = chargeBody(chooseOf<string>(random, CHARGES), {
      amount_minor: anyAmount(),
      capture_mode: 'merchant_initiated',
      payment_token_id: token,
      customer,
      return_url: RETURN_URL,
    });
    const { reference } = body;
    if ((await ask(of, body)).status !== 201) return;
    const end = endOf(reference);
    if (end === END.pending) void pendingCharge(reference);
    if (end === END.unconfirmed || (end === END.plain && method === 'later_confirmed')) {
      const choice = chooseOf<string | null>(random, CONFIRMATIONS);
      const about = { of, reference, token: null, customer, choice };
      pages.push({ ...about, ...NEW_PAGE });
    }
  }

  async function pendingCharge(reference: string): Promise<void> {
    const outcome = random.chance(0.8) ? 'paid' : 'declined';
    await decideLater(reference, outcome);
    await sleep(AGAIN_AFTER_MS);
    await setOnceThere(cluster, random, () => bank.setChargeOutcome(reference, outcome));
  }

  const accepted = () => charges.sent.filter(({ answer }) => answer?.status === 201);

  async function cancelAny(): Promise<void> {
    const known = accepted();
    if (known.length === 0) return begin();
    const { of, body } = pickRecent(random, known);
    await cancel(of, body.reference);
  }

  /** Its tenant cancels a charge, which may have ended or be paid at this moment. An answer without its end is not saved. */
  async function cancel(of: ChaosTenant, reference: string): Promise<void> {
    const reply = await untilDone(cluster, random, async () => {
      const path = `${chargePath(reference)}/cancel`;
      const refusedBefore = await storeRefuses(cluster, 'charges');
      const answered = await clientOf(of).call<ChargeView>('POST', path, {});
      // The run makes the store refuse the end of every charge for a while. That is an internal error, and passes.
      const isRefused =
        answered.status === 500 && (refusedBefore || (await storeRefuses(cluster, 'charges')));
      return isRefused || PASSING.has(answered.status) ? null : answered;
    });
    // One that has ended otherwise can't be cancelled.
    if (!reply || (!reply.body.success && reply.body.error.code === 'invalid_state')) return;
    if (reply.status !== 200) {
      problems.push(`${reference} can't be cancelled: ${reply.text}`);
      return;
    }
    counts.cancellations += 1;
    const { status, failure } = reply.body.data;
    const isDone = status === 'failed' && failure?.code === 'cancelled';
    if (isDone && !cancelled.some((one) => one.of === of && one.reference === reference)) {
      cancelled.push({ of, reference });
    }
  }

  async function verifyAny(): Promise<void> {
    const known = accepted();
    if (known.length === 0) return begin();
    const { of, body } = pickRecent(random, known);
    await verify({ of }, body.reference);
  }

  /** The network says what its unknown word about a payment means. */
  async function explainWord(): Promise<void> {
    const reference = unclear.splice(Math.floor(random.next() * unclear.length), 1)[0];
    if (reference === undefined) return;
    await setOnceThere(cluster, random, () => bank.setChargeOutcome(reference, 'paid'));
    counts.words_explained += 1;
  }

  /** An operator accepts a payment in suspense, or returns it. The decision may come too late. */
  async function decideSuspense(): Promise<void> {
    const waiting = await operators.undecided();
    if (waiting.length === 0) return;
    const charge = random.pick(waiting);
    // A second payment of a completed charge can be returned alone.
    if (charge.status !== 'completed' && random.chance(0.6)) {
      counts.suspense_accepted += Number(await operators.accept(charge));
    } else counts.suspense_returned += Number(await operators.giveBack(charge));
  }

  /** The network decides a dispute that it would leave open. */
  async function decideDispute(): Promise<void> {
    const of = cluster.anyTenant(random);
    const found = (await get<DisputeView[]>(of, '/payments/disputes?limit=20')) ?? [];
    for (const { id } of found) seen.set(id, of);
    const open = found.filter(
      ({ status, charge_reference: charge }) => status === 'open' && endOf(charge) === END.disputed,
    );
    if (open.length > 0) await setDispute(random.pick(open).charge_reference);
  }

  async function setDispute(charge: string): Promise<void> {
    const outcome = random.pick(['won', 'lost'] as const);
    await setOnceThere(cluster, random, () => bank.dispute(charge, outcome));
    counts.disputes_decided += 1;
  }

  /** Neither the database nor Temporal may answer an operator now. */
  const unlessAway = (act: () => Promise<void>) => () => act().catch(() => undefined);

  const acts: readonly (readonly [number, () => Promise<void>])[] = [
    [30, begin],
    [35, visit],
    [30, chargeToken],
    [5, verifyAny],
    [5, cancelAny],
    [4, unlessAway(decideSuspense)],
    [3, decideDispute],
    [2, explainWord],
  ];

  return {
    name: 'charges',
    weight: 2.4,
    /** Waits for some paid charges, which token charges and refunds need. The first ones also have what is rare later. */
    async prepare() {
      for (const end of FIRST_PAGES) await order(end, 'good');
      await eventually('customers who have paid before the random-fault run', async () => {
        await begin();
        await visit();
        const areVisited = pages.slice(0, FIRST_PAGES.length).every(({ visited }) => visited);
        return areVisited && counts.pages_paid >= PAID_AT_FIRST ? true : undefined;
      });
      await eventually('a charge that is cancelled before the random-fault run', async () => {
        await order(END.plain, null);
        const latest = accepted().at(-1);
        if (latest) await cancel(latest.of, latest.body.reference);
        return cancelled.length > 0 ? true : undefined;
      });
    },
    act: async () => (pages.length === 0 ? begin() : chooseOf(random, acts)()),
    async look() {
      if (seen.size > 0 && random.chance(0.2)) {
        const [id, of] = pickRecent(random, [...seen]);
        await look({ of, path: `/payments/disputes/${id}`, id });
        return;
      }
      const known = accepted();
      if (known.length === 0) return;
      const { of, body } = pickRecent(random, known);
      const { reference: id } = body;
      await look({ of, path: chargePath(id), id });
    },
    async settle() {
      const tooLong = sleep(DECIDED_WITHIN_MS, undefined, { ref: false });
      await Promise.race([Promise.all(deciding), tooLong]);
      // Until then, the network refunds and disputes payments by itself.
      const words = (async () => {
        while (unclear.length > 0) await explainWord();
        await sleep(3 * NEXT_AFTER_MS);
        const disputes = deps.database.db.collection<Dispute>('disputes');
        for (const { charge_reference: charge } of await disputes
          .find({ status: 'open' })
          .toArray())
          await setDispute(charge);
      })();
      // A record that the bank has lost keeps nobody waiting: the checker reports it.
      await Promise.race([words, sleep(DECIDED_WITHIN_MS, undefined, { ref: false })]);
    },
    repeat: async () => (await tokens.repeat()) + (await charges.repeat()),
    check: (received) =>
      checkCharges(cluster, received, {
        charges: charges.sent,
        tokens: tokens.sent,
        pages,
        cancelled,
      }),
    figures: () => ({
      tokens: tokens.sent.length,
      requests: charges.sent.length,
      charges: accepted().length,
      charges_cancelled: cancelled.length,
      without_customer: charges.sent.filter(
        ({ body, answer }) => body.capture_mode === 'merchant_initiated' && answer?.status === 201,
      ).length,
      ...counts,
      reads: reads(),
    }),
    problems,
  };
}
