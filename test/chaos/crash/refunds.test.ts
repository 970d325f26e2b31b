import { eventually } from '../../support/eventually.js';
import { paymentClient, timesRefunded, type PaymentClient } from '../../support/payments.js';
import { startService, type Service } from '../../support/service.js';

let service: Service;
let payments: PaymentClient;

beforeAll(async () => {
  service = await startService();
  payments = paymentClient(await service.tenant({ balanceMinor: 1_000_000 }));
});
afterAll(async () => {
  await service?.close();
});

test('a refund whose worker dies after the acquirer refunded and before that is recorded is refunded once', async () => {
  const charge = await payments.paid();
  let made = 0;
  /** The end of the reference selects the acquirer's behaviour; see docs/guide/test-values.md. */
  const refund = async (suffix: string): Promise<string> => {
    const reference = `refund-${process.pid}-${(made += 1)}-${suffix}`;
    const body = { charge_reference: charge.reference, amount_minor: 1_000, reference };
    const { status, text } = await payments.refund(body);
    expect([status, text]).toEqual([201, expect.anything()]);
    return reference;
  };
  // Lookups fail, so no outcome is known before the worker dies.
  await service.bank.faults([{ call: 'lookup', kind: 'error_500', probability: 1 }]);
  const silent = [await refund('004'), await refund('004'), await refund('004')];
  for (const reference of silent) {
    await eventually('the network has refunded', async () =>
      (await timesRefunded(service, reference)) > 0 ? true : undefined,
    );
    expect((await payments.getRefund(reference)).status).toBe('processing');
  }
  await service.worker.kill();
  await service.bank.faults([]);
  // Accepted while no worker runs.
  const waiting = await refund('789');
  await service.worker.start();
  for (const reference of [...silent, waiting]) {
    await eventually(`${reference} is completed`, async () =>
      (await payments.getRefund(reference)).status === 'completed' ? true : undefined,
    );
    expect(await timesRefunded(service, reference)).toBe(1);
  }
  expect(await service.problems()).toEqual([]);
});
