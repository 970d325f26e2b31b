import { setTimeout as sleep } from 'node:timers/promises';
import type { RecurringCharge } from '../../../../src/capabilities/recurring-charges/record.js';
import { mapWithConcurrency } from '../../../../src/shared/concurrency.js';
import { eventually } from '../../../support/eventually.js';
import { chargeBody, newCustomer, onPage, type TokenView } from '../../../support/payments.js';
import { RECURRING_PATH, type RecurringView } from '../../../support/recurring.js';
import type { ChaosCluster } from '../cluster.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import { createRequests, type FinalAnswer } from '../requests.js';
import type { Workload } from '../workload.js';
import { SAVER, type ChargeBody, type TokenBody } from './charge-checks.js';
import { chooseOf, untilDone } from './choosing.js';
import { checkSavedMethods, type Plan, type Saver } from './saved-method-checks.js';

const RETURN_URL = 'https://shop.example/saved';
/** Methods that customers save. Null: the customer leaves. None of them is revoked by a decline. */
const CHOICES = [
  [12, 'good'],
  [4, 'later_low_funds_twice'],
  [2, 'later_low_funds'],
  [1, 'later_declined'],
  [1, null],
] as const;
/** Ends of charges of saved methods; see docs/guide/test-values.md. */
const ENDS = [
  [8, '789'],
  [2, '001'],
  [2, '004'],
  [1, '007'],
] as const;
const SAVED_AT_FIRST = 3;
/** Customers who have not saved their method yet. */
const MOST_WAITING = 10;
const AT_ONCE = 8;
/** Longest wait for a renewal when the run ends. */
const RENEWED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 500;

/** Tokens change by other rules than the states of records: see the checks. */
const ANY_STATE = {};

const dataOf = <Data>({ text }: FinalAnswer): Data => (JSON.parse(text) as { data: Data }).data;

/**
 * Payment methods that customers save without a payment, of which some are deleted, with charges of them: single ones, and recurring
 * ones that are changed and cancelled.
 */
export function createSavedMethods(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const tokens = createRequests<TokenBody>(cluster, random, problems);
  const charges = createRequests<ChargeBody>(cluster, random, problems);
  const others = createRequests<object>(cluster, random, problems);
  const { get } = createStateReader(cluster, random, ANY_STATE, problems);
  const stored = cluster.service.deps.database.db.collection<RecurringCharge>('recurring_charges');
  const savers: Saver[] = [];
  const plans: Plan[] = [];
  const busy = new Set<object>();
  const counts = { charged: 0, refused: 0, renewed_as_changed: 0 };
  let made = 0;

  /** One client at a time acts on a token or a recurring charge, so that the order of its requests is known. */
  async function alone<T extends object>(
    of: readonly T[],
    act: (one: T) => Promise<void>,
  ): Promise<boolean> {
    const free = of.filter((one) => !busy.has(one));
    if (free.length === 0) return false;
    const one = random.pick(free);
    busy.add(one);
    await act(one).finally(() => busy.delete(one));
    return true;
  }

  const anyAmount = () => Math.round(random.between(200_000, 400_000));
  const waiting = () =>
    savers.filter(
      ({ state, deletedAt }) => deletedAt === null && (state === 'asked' || state === 'visited'),
    );
  const saved = () => savers.filter((one) => one.state === 'saved' && one.deletedAt === null);
  const open = () => plans.filter(({ cancelled }) => cancelled === null);

  /** A customer who will save a method. */
  async function begin(choice = chooseOf<string | null>(random, CHOICES)): Promise<void> {
    const of = random.pick(cluster.tenants);
    const customer = newCustomer({ id: `${SAVER}${process.pid}-${(made += 1)}` });
    const path = '/payments/tokens/card';
    const { id } = await tokens.send({ of, path, body: { customer }, key: `chaos ${customer.id}` });
    if (id === null) return;
    const setup = { path: `/payments/tokens/${id}/setup`, body: { return_url: RETURN_URL } };
    const { status } = await others.send({ of, ...setup, key: `chaos setup ${id}` });
    if (status !== 201) return;
    savers.push({ of, customer, token: id, choice, state: 'asked', deletedAt: null });
  }

  /** The customer visits the page as soon as its address is known, and the tenant looks for the method. */
  async function advance(saver: Saver): Promise<void> {
    const { of, token, choice } = saver;
    const found = await get<TokenView>(of, `/payments/tokens/${token}`);
    if (!found) return;
    const { status, setup } = found;
    if (status === 'active') saver.state = 'saved';
    else if (saver.state === 'visited') return;
    else if (setup?.status === 'failed') saver.state = 'over';
    else if (setup?.next_action) {
      const { url } = setup.next_action;
      const answered = await untilDone(cluster, random, async () => {
        const reply = await onPage(url, choice);
        return reply.status >= 500 ? null : reply;
      });
      if (answered && answered.status !== 303) problems.push(`${url}: ${answered.status}`);
      if (answered) saver.state = 'visited';
    }
  }

  async function charge({ of, token, customer }: Saver): Promise<FinalAnswer> {
    const body = chargeBody(chooseOf<string>(random, ENDS), {
      amount_minor: anyAmount(),
      capture_mode: 'merchant_initiated',
      payment_token_id: token,
      customer,
    });
    const answer = await charges.send({
      of,
      path: '/payments/charges',
      body,
      key: `chaos ${body.reference}`,
    });
    if (answer.status === 201) counts.charged += 1;
    return answer;
  }

  /** Deletes a token, often with a charge that is under way. A charge after the answer is refused. */
  async function remove(saver: Saver): Promise<void> {
    const { of, token, state } = saver;
    if (state === 'saved' && random.chance(0.6)) await charge(saver);
    const { status } = await others.send({
      of,
      method: 'DELETE',
      path: `/payments/tokens/${token}`,
      body: {},
      key: `chaos delete ${token}`,
    });
    if (status !== 200) return;
    saver.deletedAt = Date.now();
    const { status: refused, code } = await charge(saver);
    if (refused === 422 && code === 'invalid_state') counts.refused += 1;
    else if (refused !== 0) problems.push(`a charge of the deleted ${token}: ${refused} ${code}`);
  }

  /** A recurring charge, whose first period begins now. */
  async function plan(saver: Saver): Promise<void> {
    const { of, token: payment_token_id } = saver;
    const amountMinor = anyAmount();
    const { status, id } = await others.send({
      of,
      path: RECURRING_PATH,
      body: { payment_token_id, amount_minor: amountMinor, interval: 'day' },
      key: `chaos plan ${(made += 1)}`,
    });
    if (status !== 201 || id === null) return;
    plans.push({ saver, id, amountMinor, changed: null, isMovedOn: false, cancelled: null });
  }

  /** The next thing that happens to a recurring charge: its change, the next period, or its cancellation. */
  async function follow(of: Plan): Promise<void> {
    if (random.chance(0.1)) return cancel(of);
    if (of.changed === null) return change(of);
    if (!of.isMovedOn) return passDay(of);
    if ((await chargedPeriods(of)) >= 2) await cancel(of);
  }

  async function change(of: Plan): Promise<void> {
    const amountMinor = anyAmount();
    const answer = await others.send({
      of: of.saver.of,
      method: 'PATCH',
      path: `${RECURRING_PATH}/${of.id}`,
      body: { amount_minor: amountMinor },
      key: `chaos change ${of.id}`,
    });
    if (answer.status !== 200) return;
    const { charged_periods: charged } = dataOf<RecurringView>(answer);
    of.changed = { amountMinor, chargedPeriods: charged };
  }

  /** Lets a day pass: the second period is due. */
  async function passDay(of: Plan): Promise<void> {
    const [now, soon] = [new Date(), new Date(Date.now() - 1_000)];
    const { matchedCount } = await stored.updateOne(
      { _id: of.id, next_period: 1, next_charge_at: { $gt: now } },
      { $set: { next_charge_at: soon, next_check_at: new Date(0) }, $inc: { version: 1 } },
    );
    of.isMovedOn = matchedCount === 1;
  }

  async function chargedPeriods({ saver: { of }, id }: Plan): Promise<number> {
    const found = await get<RecurringView>(of, `${RECURRING_PATH}/${id}`);
    return found?.charged_periods ?? 0;
  }

  async function cancel(of: Plan): Promise<void> {
    const answer = await others.send({
      of: of.saver.of,
      path: `${RECURRING_PATH}/${of.id}/cancel`,
      body: {},
      key: `chaos cancel ${of.id}`,
    });
    if (answer.status !== 200) return;
    const { charged_periods: charged } = dataOf<RecurringView>(answer);
    of.cancelled = { chargedPeriods: charged };
    if (of.changed !== null && charged > of.changed.chargedPeriods) counts.renewed_as_changed += 1;
  }

  /** Changes, renews and cancels a recurring charge at the end of the run, if that has not happened yet. */
  async function endPlan(of: Plan): Promise<void> {
    if (of.changed === null) await change(of);
    const end = performance.now() + RENEWED_WITHIN_MS;
    while (performance.now() < end && (await chargedPeriods(of)) < 2) {
      if (!of.isMovedOn) await passDay(of);
      await sleep(LOOK_EVERY_MS);
    }
    await cancel(of);
  }

  /** The database may not answer the run itself now. */
  const followAny = () => alone(open(), (one) => follow(one).catch(() => undefined));

  const acts: readonly (readonly [number, () => Promise<boolean>])[] = [
    [25, async () => (waiting().length < MOST_WAITING ? begin().then(() => true) : false)],
    [35, () => alone(waiting(), advance)],
    [20, () => alone(saved(), (one) => charge(one).then(() => undefined))],
    [15, () => alone(saved(), plan)],
    [35, followAny],
    [12, () => alone([...saved(), ...waiting().filter(isVisited)], remove)],
  ];

  return {
    name: 'saved-methods',
    weight: 2,
    async prepare() {
      for (let i = 0; i < SAVED_AT_FIRST; i += 1) await begin('good');
      await eventually('methods that are saved before the random-fault run', async () => {
        for (const saver of waiting()) await advance(saver);
        return saved().length >= SAVED_AT_FIRST ? true : undefined;
      });
      const [deleted, ...rest] = saved();
      for (const saver of rest) await plan(saver);
      if (deleted) await remove(deleted);
    },
    async act() {
      if (!(await chooseOf(random, acts)())) await alone(waiting(), advance);
    },
    async settle() {
      const tooLong = sleep(2 * RENEWED_WITHIN_MS, undefined, { ref: false });
      await Promise.race([mapWithConcurrency(AT_ONCE, open(), endPlan), tooLong]);
    },
    repeat: async () =>
      (await tokens.repeat()) + (await charges.repeat()) + (await others.repeat()),
    check: (received) =>
      checkSavedMethods(cluster, received, {
        savers,
        plans,
        charges: charges.sent,
        tokens: tokens.sent,
      }),
    figures: () => ({
      tokens: tokens.sent.length,
      methods_saved: savers.filter(({ state }) => state === 'saved').length,
      tokens_deleted: savers.filter(({ deletedAt }) => deletedAt !== null).length,
      plans: plans.length,
      plans_changed: plans.filter(({ changed }) => changed !== null).length,
      plans_cancelled: plans.filter(({ cancelled }) => cancelled !== null).length,
      ...counts,
    }),
    problems,
  };
}

const isVisited = ({ state }: Saver): boolean => state === 'visited';
