import { attemptReference, type Charge } from '../../src/capabilities/charges/record.js';
import {
  scheduleId,
  type RecurringCharge,
} from '../../src/capabilities/recurring-charges/record.js';
import { activeToken, paymentClient } from '../support/payments.js';
import { RECURRING_PATH, type RecurringView } from '../support/recurring.js';
import { shareService, type Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await shareService();
});
afterAll(() => service?.close());

test('a card that has expired is charged in one period: the charge of the next one fails without a call to the provider', async () => {
  const tenant = await service.tenant({ balanceMinor: 0 });
  const payments = paymentClient(tenant);
  const { token } = await activeToken(payments, 'later_expired');
  const { body } = await payments.call<RecurringView>('POST', RECURRING_PATH, {
    payment_token_id: token.payment_token_id,
    amount_minor: 300_000,
    interval: 'month',
  });
  const { id } = body.data;
  const codeOf = async (period: number) =>
    (await payments.waitFor(`${id}-${period}`, 'failed')).failure?.code;
  /** The status of the provider's answer to a question about a period's charge. */
  async function knownOf(period: number): Promise<number> {
    const charge = await service.deps.charges.store.byReference(tenant.id, `${id}-${period}`);
    const reference = attemptReference(charge as Charge);
    const secret = String(service.env['SANDBOX_BANK_SECRET']);
    const headers = { authorization: `Bearer ${secret}` };
    return (await fetch(`${service.bank.url}/v1/charges/${reference}`, { headers })).status;
  }

  expect(await codeOf(0)).toBe('expired_card');
  const resumed = await payments.call<RecurringView>('POST', `${RECURRING_PATH}/${id}/resume`, {});
  expect([resumed.status, resumed.body.data.status]).toEqual([200, 'past_due']);
  await service.deps.database.db
    .collection<RecurringCharge>('recurring_charges')
    .updateOne(
      { _id: id },
      { $set: { next_charge_at: new Date(Date.now() - 1_000), next_check_at: new Date(0) } },
    );
  expect(await codeOf(1)).toBe('token_revoked');
  expect([await knownOf(0), await knownOf(1)]).toEqual([200, 404]);
  const { data } = (await payments.call<RecurringView>('GET', `${RECURRING_PATH}/${id}`)).body;
  expect(data.status).toBe('past_due');
  await payments.call('POST', `${RECURRING_PATH}/${id}/cancel`, {});
  const schedule = service.deps.temporal.client.schedule.getHandle(scheduleId(id));
  await schedule.delete().catch(() => undefined);
});
