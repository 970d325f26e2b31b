import { eventually } from '../support/eventually.js';
import { chargeBody, paymentClient } from '../support/payments.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { shareService, type Service } from '../support/service.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let receiver: Receiver;
beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const REFERENCES = ['Invoice 42', 'N° 7/2026 – été', '請求書 42', '🧾 5%20#?&'];

describe('a reference as people write it', () => {
  test.each(REFERENCES)(
    'of a transfer is the same in the answer, the list and the webhook: %s',
    async (reference) => {
      const { status, body } = await tenant.transfer(transferBody('789', { reference }));
      expect([status, body.data.reference]).toEqual([201, reference]);
      const { data } = await tenant.client.listTransfers({ reference });
      expect(data.map(({ id }) => id)).toEqual([body.data.id]);
      const event = await eventually('the webhook arrives', () =>
        receiver.events().find(({ data: sent }) => sent['id'] === body.data.id),
      );
      expect(event.data['reference']).toBe(reference);
    },
  );

  test.each(REFERENCES)('of a charge names it in the path: %s', async (reference) => {
    const payments = paymentClient(tenant);
    const reply = await payments.charge(chargeBody('789', { reference }));
    expect([reply.status, reply.body.data.reference]).toEqual([201, reference]);
    expect((await payments.get(reference)).reference).toBe(reference);
    const location = String(reply.headers.get('location')).replace('/api/v1', '');
    expect((await payments.call<{ reference: string }>('GET', location)).body.data.reference).toBe(
      reference,
    );
  });

  test('in another spelling of the same text is the same reference', async () => {
    const first = await tenant.transfer(transferBody('789', { reference: 'Re\u0301f 1' }));
    expect(first.body.data.reference).toBe('R\u00e9f 1');
    const second = await tenant.transfer(transferBody('789', { reference: 'R\u00e9f 1' }));
    expect([second.status, second.body.error]).toMatchObject([
      422,
      { code: 'duplicate_reference', details: { id: first.body.data.id } },
    ]);
    const { data } = await tenant.client.listTransfers({ reference: 'Re\u0301f 1' });
    expect(data.map(({ id }) => id)).toEqual([first.body.data.id]);
  });
});
