import { startSandboxBank, type RunningSandboxBank } from '../../../sandbox-bank/server.js';
import { acquirerClient, type AcquirerClient } from './support.js';
import {
  bankClient,
  eventually,
  removeFolder,
  SECRET,
  startReceiver,
  staysSilent,
  temporaryFolder,
} from '../support.js';

let folder: string;
let service: Awaited<ReturnType<typeof startReceiver>>;
let bank: RunningSandboxBank;
let client: AcquirerClient;
let authorization: string;

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startReceiver();
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET, callbackUrl: service.url });
  client = acquirerClient(bankClient(bank.url));
  authorization = await client.newAuthorization();
});

afterAll(async () => {
  await bank.close();
  await service.close();
  removeFolder(folder);
});

/** A charge of 300,000 that was paid. */
const paid = async () => {
  const request = client.chargeRequest(authorization);
  await client.charge(request);
  return request.reference;
};

const refund = async (suffix: string) => {
  const charge = await paid();
  const request = client.refundRequest(charge, suffix);
  return { charge, request, ...(await client.refund(request)) };
};

test('any other reference: refunded at once, under an id of its own', async () => {
  const { charge, request, status, body } = await refund('789');
  expect(status).toBe(201);
  expect(body).toMatchObject({
    refund: expect.stringMatching(/^rfnd_/) as string,
    charge,
    merchant_note: request.merchant_note,
    status: 'refunded',
    amount_minor: 100_000,
  });
  expect(await client.refunds(charge)).toEqual([body]);
  expect(await client.effects({ reference: request.merchant_note })).toEqual([
    expect.objectContaining({
      kind: 'refunded',
      client_reference: request.client_reference,
      amount_minor: 100_000,
      charge,
    }),
  ]);
});

test('a repeat refunds again, as with real ones, and an old one does not', async () => {
  const { charge, request } = await refund('789');
  const old = { ...request, requested_at: new Date(Date.now() - 6_000).toISOString() };
  expect((await client.refund(old)).body.error?.code).toBe('too_old');
  expect((await client.refund(request)).body.status).toBe('refunded');
  expect(await client.kinds(request.merchant_note)).toEqual(['refunded', 'refunded']);
  expect(await client.refunds(charge)).toHaveLength(2);
});

test('never more than was paid, with what is pending counted and what was refused not', async () => {
  const charge = await paid();
  const take = async (suffix: string, amount_minor: number) => {
    const request = client.refundRequest(charge, suffix, { amount_minor });
    return (await client.refund(request)).body;
  };
  expect((await take('006', 200_000)).status).toBe('pending');
  expect((await take('002', 100_000)).status).toBe('refused');
  expect(await take('789', 100_001)).toMatchObject({ status: 'refused', code: 'exceeds_charge' });
  const bodies = await Promise.all(Array.from({ length: 20 }, () => take('789', 10_000)));
  expect(bodies.filter(({ status }) => status === 'refunded')).toHaveLength(10);
});

test('a charge that was not paid cannot be refunded', async () => {
  const { reference } = await client.newPage();
  const { body } = await client.refund(client.refundRequest(reference));
  expect(body).toMatchObject({ status: 'refused', code: 'charge_not_paid' });
  const missing = await client.refund(client.refundRequest('nowhere'));
  expect([missing.status, missing.body.error?.code]).toEqual([404, 'charge_not_found']);
});

test('001: pending, then refunded, reported by callback only', async () => {
  const { charge, request, body } = await refund('001');
  expect(body.status).toBe('pending');
  const [callback] = await service.wait(charge, 1);
  expect(callback?.body).toMatchObject({
    event: 'refund.refunded',
    data: { refund: body.refund, charge, merchant_note: request.merchant_note, status: 'refunded' },
  });
  await eventually(async () =>
    (await client.refunds(charge))[0]?.status === 'refunded' ? true : undefined,
  );
  expect(await client.kinds(request.merchant_note)).toEqual(['refunded']);
});

test('002 is refused', async () => {
  const { charge, request, body } = await refund('002');
  expect(body).toMatchObject({ status: 'refused', code: 'refund_refused' });
  expect(await client.refunds(charge)).toEqual([body]);
  expect(await client.kinds(request.merchant_note)).toEqual([]);
});

test('004: refunded, but the answer never comes; 005: neither', async () => {
  for (const [suffix, kinds] of [
    ['004', ['refunded']],
    ['005', []],
  ] as const) {
    const charge = await paid();
    const request = client.refundRequest(charge, suffix);
    expect(await staysSilent((init) => client.refund(request, init))).toBe(true);
    expect(await client.kinds(request.merchant_note)).toEqual(kinds);
    expect((await client.refunds(charge)).map(({ status }) => status)).toEqual(kinds);
  }
});

test('006: pending until the outcome is set, by id, note or reference', async () => {
  const [first, second, third] = [await refund('006'), await refund('006'), await refund('006')];
  expect((await client.reportRefundOutcome(first.body.refund, 'refunded')).body.status).toBe(
    'refunded',
  );
  // A completed refund fails after all.
  const late = await client.reportRefundOutcome(first.body.refund, 'failed');
  expect(late.body).toMatchObject({ status: 'returned' });
  expect((await client.reportRefundOutcome(first.body.refund, 'refunded')).status).toBe(409);
  const { body } = await client.reportRefundOutcome(second.request.merchant_note, 'failed');
  expect(body).toMatchObject({ status: 'refused', code: 'declined' });
  await client.reportRefundOutcome(third.request.client_reference, 'refunded');
  for (const [{ charge }, event] of [
    [first, 'refund.refunded'],
    [second, 'refund.refused'],
    [third, 'refund.refunded'],
  ] as const) {
    expect((await service.wait(charge, 1))[0]?.body.event).toBe(event);
  }
  expect((await client.reportRefundOutcome('nowhere', 'refunded')).status).toBe(404);
  const { charge, request } = await refund('006');
  await client.refund({ ...request, charge });
  expect((await client.reportRefundOutcome(request.merchant_note, 'failed')).body.error?.code).toBe(
    'ambiguous',
  );
});

test('007: three times 500, then refunded; 010: 429 first', async () => {
  for (const [suffix, statuses] of [
    ['007', [500, 500, 500, 201]],
    ['010', [429, 201]],
  ] as const) {
    const request = client.refundRequest(await paid(), suffix);
    for (const status of statuses) expect((await client.refund(request)).status).toBe(status);
    expect(await client.kinds(request.merchant_note)).toEqual(['refunded']);
  }
});

test('009: reported three times and out of order, refunded once', async () => {
  const { charge, request } = await refund('009');
  const callbacks = await service.wait(charge, 4);
  expect(callbacks.map(({ body }) => body.event)).toEqual([
    'refund.refunded',
    'refund.pending',
    'refund.refunded',
    'refund.refunded',
  ]);
  expect(await client.kinds(request.merchant_note)).toEqual(['refunded']);
});
