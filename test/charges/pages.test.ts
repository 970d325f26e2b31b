import { setTimeout as sleep } from 'node:timers/promises';
import { bursarApproved } from '../support/cli.js';
import { callsByQueue } from '../support/local-submission.js';
import {
  acquirerEffects,
  activeToken,
  chargeBody,
  onPage,
  paymentClient,
  type PaymentClient,
} from '../support/payments.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { chargeWorkflowId, type Charge } from '../../src/capabilities/charges/record.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';

/** A bank that gives the address of a page once. */
let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  const env = { SANDBOX_BANK_PAGES: 'new_reference', BURSAR_CHARGE_EXPIRES_MS: '20000' };
  service = await startService({ env });
  tenant = await service.tenant({ balanceMinor: 0 });
  payments = paymentClient(tenant);
});
afterAll(() => service?.close());

const record = (reference: string) =>
  service.deps.database.db.collection<Charge>('charges').findOne({ reference });
const timesPaid = async (reference: string) =>
  (await acquirerEffects(service, reference)).filter(({ kind }) => kind === 'charged').length;

describe('a page whose address was lost', () => {
  test('is given up for another one under another reference, which the customer pays once', async () => {
    const body = chargeBody();
    await service.bank.faults([{ call: 'initialize', kind: 'drop_after', probability: 1 }]);
    expect((await payments.charge(body)).status).toBe(201);
    await eventually('the first page exists', async () => {
      const id = (await record(body.reference))?._id;
      const { status } = await fetch(`${service.bank.url}/v1/charges/${id}-1`, {
        headers: { authorization: `Bearer ${service.env['SANDBOX_BANK_SECRET']}` },
      });
      return status === 200 ? true : undefined;
    });
    await service.bank.faults([]);
    const { next_action: action } = await payments.waitFor(body.reference, 'requires_action');
    expect((await record(body.reference))?.attempt).toBeGreaterThan(1);
    await onPage(String(action?.url));
    await payments.verifyUntil(body.reference, ({ status }) => status === 'completed');
    expect(await timesPaid(body.reference)).toBe(1);
  });

  test('completes the charge all the same if it is that one which is paid', async () => {
    const body = chargeBody();
    await service.bank.faults([{ call: 'initialize', kind: 'drop_after', probability: 1 }]);
    await payments.charge(body);
    const id = await eventually('another page is tried', async () => {
      const found = await record(body.reference);
      return found && found.attempt > 1 ? found._id : undefined;
    });
    await service.bank.faults([]);
    await payments.waitFor(body.reference, 'requires_action');
    expect(await service.bank.setChargeOutcome(`${id}-1`, 'paid')).toBe(200);
    await payments.waitFor(body.reference, 'completed');
    expect(await record(body.reference)).toMatchObject({ attempt: 1 });
    expect(await timesPaid(body.reference)).toBe(1);
  });
});

describe('a page of the sandbox bank', () => {
  test('015: the payment of a second page completes the charge, and that of the first one waits in suspense', async () => {
    const { reference, url } = await payments.page('015');
    expect((await record(reference))?.attempt).toBe(2);
    await onPage(url);
    await payments.waitFor(reference, 'completed');
    const { suspended, attention } = await eventually('the first page is paid too', async () => {
      const found = await record(reference);
      return found && found.suspended.length > 0 ? found : undefined;
    });
    expect(suspended).toMatchObject([{ attempt: 1, amount_minor: 300_000n }]);
    expect(attention).not.toBeNull();
    expect(await timesPaid(reference)).toBe(2);
    expect(await tenant.balance()).toMatchObject({ held: 0 });
  });

  test('024: a callback of another environment has no effect and waits for an operator, and a poll completes the charge', async () => {
    const since = new Date();
    const { reference, url } = await payments.page('024');
    await onPage(url);
    const { attention } = await eventually('the message is stored', async () => {
      const found = await service.deps.database.db
        .collection<ProviderEvent>('provider_events')
        .findOne({ status: 'failed', received_at: { $gte: since } });
      return found ?? undefined;
    });
    expect(attention).not.toBeNull();
    await payments.verify(reference);
    await payments.waitFor(reference, 'completed');
    const origins = (await payments.timeline(reference)).map(({ type }) => type);
    expect(origins).toContain('poll');
    expect(origins).not.toContain('webhook');
    expect(await timesPaid(reference)).toBe(1);
  });
});

describe('a charge', () => {
  test('of which nobody pays at present stays open, and is paid on the same page later', async () => {
    const { reference, url } = await payments.page();
    expect(await service.bank.setChargeOutcome(reference, 'abandoned')).toBe(200);
    expect((await payments.verify(reference)).body.data.status).toBe('requires_action');
    await onPage(url);
    await payments.waitFor(reference, 'completed');
  });

  test('that an operator fails by force is not submitted again, and is asked about at the usual pauses', async () => {
    const { reference } = await payments.page();
    expect(await service.bank.setChargeOutcome(reference, 'abandoned')).toBe(200);
    const id = String((await record(reference))?._id);
    const forced = await bursarApproved(`charges fail ${id} --reason test --force`, service.env);
    expect([forced.code, (await payments.get(reference)).status]).toEqual([0, 'failed']);
    // Its customer's time is over too.
    await service.deps.database.db
      .collection<Charge>('charges')
      .updateOne({ _id: id }, { $set: { expires_at: new Date() } });
    const made = () => callsByQueue(service, chargeWorkflowId(id));
    const before = (await made()).length;
    const calls = async () => (await made()).slice(before);
    await eventually('it is asked about', async () =>
      (await calls()).length > 0 ? true : undefined,
    );
    await sleep(4_000);
    expect(new Set(await calls())).toEqual(new Set(['verifyCharge']));
    // At most one in two seconds is usual here. Without pauses there are dozens.
    expect((await calls()).length).toBeLessThan(10);
  });

  test('without the customer that has to be confirmed leads to a page, and is paid there once', async () => {
    const { token } = await activeToken(payments);
    const charge = async (suffix: string) => {
      const body = chargeBody(suffix, {
        capture_mode: 'merchant_initiated',
        payment_token_id: token.payment_token_id,
        customer: { id: token.customer_id, email: 'ada.obi@example.com' },
      });
      expect((await payments.charge(body)).status).toBe(201);
      // The customer of 025 confirms by itself after 2 s.
      const asked = await payments.waitFor(
        body.reference,
        ({ status }) => status === 'requires_action' || status === 'completed',
      );
      return { reference: body.reference, url: String(asked.next_action?.url) };
    };
    const [confirmed, byHand] = [await charge('025'), await charge('026')];
    await payments.waitFor(confirmed.reference, 'completed');
    await onPage(byHand.url);
    await payments.waitFor(byHand.reference, 'completed');
    for (const { reference } of [confirmed, byHand]) expect(await timesPaid(reference)).toBe(1);
  });

  test('that its customer does not confirm in time fails', async () => {
    const { token } = await activeToken(payments);
    const api = await service.newApi({ BURSAR_CHARGE_EXPIRES_MS: '1500' });
    const worker = service.newWorker({ BURSAR_CHARGE_EXPIRES_MS: '1500' });
    await Promise.all([api.start(), worker.start()]);
    await service.worker.kill();
    const body = chargeBody('026', {
      capture_mode: 'merchant_initiated',
      payment_token_id: token.payment_token_id,
      customer: { id: token.customer_id, email: 'ada.obi@example.com' },
    });
    await payments.charge(body);
    const { failure } = await payments.waitFor(body.reference, 'failed');
    expect(failure?.code).toBe('expired');
  });
});
