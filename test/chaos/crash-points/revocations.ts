import { randomUUID } from 'node:crypto';
import type { PaymentToken } from '../../../src/capabilities/payment-tokens/record.js';
import { eventually } from '../../support/eventually.js';
import { activeToken, onPage, type TokenView } from '../../support/payments.js';
import { RECURRING_PATH, type RecurringView } from '../../support/recurring.js';
import { namesOf, type Case } from './capability.js';
import type { Cluster, Death } from './cluster.js';

/** A token with a recurring charge that begins tomorrow. */
async function tokenInUse(cluster: Cluster): Promise<{ id: string; on: string }> {
  const { payments } = cluster;
  const { token } = await activeToken(payments);
  await cluster.isQuiet();
  const { payment_token_id: id } = token;
  const reply = await payments.call<RecurringView>('POST', RECURRING_PATH, {
    payment_token_id: id,
    amount_minor: 300_000,
    interval: 'month',
    start_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  return { id, on: reply.body.data.id };
}

/** The token is revoked once, here and at its provider, and its recurring charge is past due. */
const deleted = (deaths: readonly Death[]): Case => ({
  name: `a deleted payment token: ${namesOf(deaths)}`,
  async run(cluster) {
    const { payments, service } = cluster;
    const { id, on } = await tokenInUse(cluster);
    const revocations = async () =>
      (await service.bank.journal()).filter(({ kind }) => kind === 'authorization_revoked').length;
    const before = await revocations();
    const key = randomUUID();
    const remove = () => payments.call('DELETE', `/payments/tokens/${id}`, undefined, { key });
    const first = await cluster.dies(deaths, () => remove().catch(() => null));
    const reply = await remove();
    expect(reply.status).toBe(200);
    if (first) expect(reply.text).toBe(first.text);
    const tokens = service.deps.database.db.collection<PaymentToken>('payment_tokens');
    await eventually('its provider has revoked it', async () =>
      (await tokens.findOne({ _id: id, revoking: null })) ? true : undefined,
    );
    expect(await tokens.findOne({ _id: id })).toMatchObject({ status: 'revoked' });
    expect(await revocations()).toBe(before + 1);
    await eventually('its recurring charge is past due', async () =>
      (await service.deps.recurringCharges.store.find(on))?.status === 'past_due'
        ? true
        : undefined,
    );
    await cluster.isNotified(on, ['recurring_charge.past_due']);
    await payments.call('POST', `${RECURRING_PATH}/${on}/cancel`, {});
    await cluster.isNotified(on, ['recurring_charge.past_due', 'recurring_charge.ended']);
    await cluster.isQuiet();
  },
});

/** The token is set up without a payment: it has one page in the end, and a card is saved on it. */
const setUp = (deaths: readonly Death[]): Case => ({
  name: `a set-up without a payment: ${namesOf(deaths)}`,
  async run(cluster) {
    const { payments } = cluster;
    const { payment_token_id: id } = await payments.token();
    await cluster.isQuiet();
    const key = randomUUID();
    const post = () =>
      payments.call<TokenView>('POST', `/payments/tokens/${id}/setup`, {}, { key });
    const get = async () =>
      (await payments.call<TokenView>('GET', `/payments/tokens/${id}`)).body.data;
    const first = await cluster.dies(deaths, () => post().catch(() => null));
    const reply = await post();
    expect(reply.status).toBe(201);
    if (first) expect(reply.text).toBe(first.text);
    const page = await eventually('its page is open', async () => {
      const { setup } = await get();
      return setup?.next_action?.url;
    });
    await onPage(page);
    await eventually('it is active', async () =>
      (await get()).status === 'active' ? true : undefined,
    );
    await cluster.isNotified(id, [
      'payment_token.setup_completed',
      'payment_token.setup_requires_action',
    ]);
    await cluster.isQuiet();
  },
});

/** A method that its customer saves on a page after the token was deleted is revoked, and is never charged. */
const savedLate = (deaths: readonly Death[]): Case => ({
  name: `a method that is saved after its token was deleted: ${namesOf(deaths)}`,
  async run(cluster) {
    const { payments, service } = cluster;
    const { payment_token_id: id } = await payments.token();
    await payments.call('POST', `/payments/tokens/${id}/setup`, {});
    const page = await eventually('its page is open', async () => {
      const { body } = await payments.call<TokenView>('GET', `/payments/tokens/${id}`);
      return body.data.setup?.next_action?.url;
    });
    const revocations = async () =>
      (await service.bank.journal()).filter(({ kind }) => kind === 'authorization_revoked').length;
    const before = await revocations();
    const remove = () => payments.call('DELETE', `/payments/tokens/${id}`);
    await cluster.dies(deaths, async () => {
      await remove().catch(() => null);
      // The deletion makes the worker ask once more. The method is saved after that, else its message may end the setup first.
      await eventually('the process is dead', () =>
        deaths.every(({ who }) => !service[who].isRunning()) ? true : undefined,
      );
      await onPage(page);
    });
    expect((await remove()).status).toBe(200);
    const tokens = service.deps.database.db.collection<PaymentToken>('payment_tokens');
    await eventually('its provider has revoked it, and is asked no more', async () =>
      (await revocations()) === before + 1 &&
      (await tokens.findOne({ _id: id, revoking: null, next_check_at: null }))
        ? true
        : undefined,
    );
    expect(await tokens.findOne({ _id: id })).toMatchObject({ status: 'revoked' });
    await cluster.isQuiet();
  },
});

const API_POINTS = [
  'claim.written',
  'commit.before',
  'commit.after',
  // The second commit is the recurring charge's.
  'commit.before:2',
  'commit.after:2',
  'start.before',
  'start.after',
];
const api = (point: string): Death => ({ who: 'api', point });
const worker = (point: string): Death => ({ who: 'worker', point });

export const revocations: Case[] = [
  ...API_POINTS.map((point) => deleted([api(point)])),
  deleted([worker('revocation.answered')]),
  deleted([api('commit.after'), worker('dispatch.started')]),
  ...['claim.written', 'commit.after', 'start.before'].map((point) => setUp([api(point)])),
  setUp([worker('setup.answered')]),
  setUp([api('commit.after'), worker('setup.answered')]),
  deleted([api('commit.after'), worker('revocation.answered')]),
  savedLate([api('commit.after')]),
  savedLate([worker('setup.answered')]),
];
