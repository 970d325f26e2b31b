import { startSandboxBank, type RunningSandboxBank } from '../../../sandbox-bank/server.js';
import {
  bankClient,
  removeFolder,
  SECRET,
  startReceiver,
  staysSilent,
  temporaryFolder,
  eventually,
  type BankClient,
} from '../support.js';

let folder: string;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let bank: RunningSandboxBank;
let client: BankClient;

beforeAll(async () => {
  folder = temporaryFolder();
  receiver = await startReceiver();
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET, callbackUrl: receiver.url });
  client = bankClient(bank.url);
});

afterAll(async () => {
  await bank.close();
  await receiver.close();
  removeFolder(folder);
});

const enquire = (account: string, bankCode = '058', init: { signal?: AbortSignal } = {}) =>
  client.post<Record<string, unknown>>(
    '/v1/name-enquiries',
    { account, bank_code: bankCode },
    init,
  );

const kinds = async (reference: string) =>
  (await client.journal(reference)).map((entry) => entry.kind);

const paidInTheEnd = (reference: string) =>
  eventually(async () => {
    const { body } = await client.lookup(reference);
    return body.status === 'paid' ? body : undefined;
  });

test('any other account: paid at once, with a NIP session id', async () => {
  const request = client.transferRequest('789');
  const { status, body, headers } = await client.submit(request);
  expect(status).toBe(201);
  expect(body).toMatchObject({ status: 'paid', amount_minor: 150_000, code: null });
  expect(body.session_id).toMatch(/^999999\d{12}\d{12}$/);
  expect(headers.get('x-request-id')).toMatch(/^sbr_/);
  expect((await client.lookup(request.reference)).body).toEqual(body);
  expect(await client.journal(request.reference)).toEqual([
    expect.objectContaining({
      kind: 'paid',
      client_reference: 'order-1',
      amount_minor: 150_000,
      currency: 'NGN',
      session_id: body.session_id,
    }),
  ]);
});

test('001: paid later, and reported by callback only', async () => {
  const request = client.transferRequest('001');
  expect((await client.submit(request)).body.status).toBe('pending');
  expect(await kinds(request.reference)).toEqual([]);
  const [callback] = await receiver.wait(request.reference, 1);
  expect(callback?.body).toMatchObject({
    event: 'transfer.paid',
    data: { amount_minor: 150_000, session_id: expect.stringMatching(/^\d{30}$/) as string },
  });
  expect((await paidInTheEnd(request.reference)).session_id).toBe(callback?.body.data.session_id);
  expect(await kinds(request.reference)).toEqual(['paid']);
});

test('002: refused for good', async () => {
  const request = client.transferRequest('002');
  const { body } = await client.submit(request);
  expect(body).toMatchObject({ status: 'refused', code: 'account_closed', session_id: null });
  expect((await client.lookup(request.reference)).body).toEqual(body);
  expect(await kinds(request.reference)).toEqual([]);
});

test('003: name enquiry knows no such account, and a submit is refused', async () => {
  const enquiry = await enquire('0123456003');
  expect([enquiry.status, enquiry.body]).toMatchObject([
    404,
    { error: { code: 'no_such_account' } },
  ]);
  const { body } = await client.submit(client.transferRequest('003'));
  expect(body).toMatchObject({ status: 'refused', code: 'no_such_account' });
});

test('004: paid, but the answer never comes', async () => {
  const request = client.transferRequest('004');
  expect(await staysSilent((init) => client.submit(request, init))).toBe(true);
  expect((await client.lookup(request.reference)).body.status).toBe('paid');
  expect(await staysSilent((init) => client.submit(request, init))).toBe(true);
  expect(await kinds(request.reference)).toEqual(['paid']);
});

test('005: the answer never comes and nothing is paid, every time', async () => {
  const request = client.transferRequest('005');
  for (const _ of [1, 2]) {
    expect(await staysSilent((init) => client.submit(request, init))).toBe(true);
    const { status, body } = await client.lookup(request.reference);
    expect([status, body.error?.code]).toEqual([404, 'transfer_not_found']);
  }
  expect(await kinds(request.reference)).toEqual([]);
});

test('006: pending until the outcome is set at the bank, which then sends a callback', async () => {
  const request = client.transferRequest('006');
  expect((await client.submit(request)).body.status).toBe('pending');
  expect((await client.lookup(request.reference)).body.status).toBe('pending');
  expect((await client.reportOutcome(request.reference, 'paid')).body.status).toBe('paid');
  expect((await client.lookup(request.reference)).body.status).toBe('paid');
  const [callback] = await receiver.wait(request.reference, 1);
  expect(callback?.body.event).toBe('transfer.paid');
  expect(await kinds(request.reference)).toEqual(['paid']);
});

test('006: the outcome can be set by client reference; the opposite outcome is refused, a repeat is not', async () => {
  const request = client.transferRequest('006', { client_reference: 'invoice 7/a' });
  await client.submit(request);
  expect((await client.reportOutcome('invoice 7/a', 'failed')).body).toMatchObject({
    status: 'refused',
    code: 'declined',
  });
  const [callback] = await receiver.wait(request.reference, 1);
  expect(callback?.body).toMatchObject({ event: 'transfer.refused', data: { code: 'declined' } });
  expect((await client.reportOutcome(request.reference, 'failed')).status).toBe(200);
  expect((await client.reportOutcome(request.reference, 'paid')).status).toBe(409);
  expect((await client.reportOutcome('nobody', 'paid')).status).toBe(404);
  expect(await kinds(request.reference)).toEqual([]);
});

test('one client reference of several pending transfers is not guessed at', async () => {
  const requests = [1, 2].map(() => client.transferRequest('006', { client_reference: 'shared' }));
  for (const request of requests) await client.submit(request);
  const { status, body } = await client.reportOutcome('shared', 'paid');
  expect([status, body.error?.code]).toEqual([409, 'ambiguous']);
});

test('007: three times 500 with nothing done, then paid', async () => {
  const request = client.transferRequest('007');
  for (const _ of [1, 2, 3]) {
    expect((await client.submit(request)).status).toBe(500);
    expect((await client.lookup(request.reference)).status).toBe(404);
  }
  expect(await kinds(request.reference)).toEqual([]);
  expect((await client.submit(request)).body.status).toBe('paid');
  expect((await client.submit(request)).body.status).toBe('paid');
  expect(await kinds(request.reference)).toEqual(['paid']);
});

test('008: paid, and reversed later with a callback', async () => {
  const request = client.transferRequest('008');
  const paid = (await client.submit(request)).body;
  expect(paid.status).toBe('paid');
  const [callback] = await receiver.wait(request.reference, 1);
  expect(callback?.body).toMatchObject({
    event: 'transfer.reversed',
    data: { amount_minor: 150_000, session_id: paid.session_id },
  });
  expect((await client.lookup(request.reference)).body.status).toBe('reversed');
  expect(await kinds(request.reference)).toEqual(['paid', 'reversed']);
});

test('009: paid by callback, three times and out of order', async () => {
  const request = client.transferRequest('009');
  expect((await client.submit(request)).body.status).toBe('pending');
  const bodies = (await receiver.wait(request.reference, 4)).map(({ body }) => body);
  const events = bodies.map((body) => body.event.replace('transfer.', ''));
  expect(events).toEqual(['paid', 'pending', 'paid', 'paid']);
  const [first, stale, second, third] = bodies;
  expect(stale?.occurred_at.localeCompare(first?.occurred_at ?? '')).toBe(-1);
  expect(stale?.data.session_id).toBeNull();
  expect(second).toEqual(first);
  expect(third?.id).not.toBe(first?.id);
  expect(third?.data).toEqual(first?.data);
  await paidInTheEnd(request.reference);
  expect(await kinds(request.reference)).toEqual(['paid']);
});

test('010: 429 with Retry-After first, then paid', async () => {
  const request = client.transferRequest('010');
  const first = await client.submit(request);
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
  expect((await client.lookup(request.reference)).status).toBe(404);
  expect((await client.submit(request)).body.status).toBe('paid');
  expect(await kinds(request.reference)).toEqual(['paid']);
});

test('011: name enquiry does not answer, the payment works', async () => {
  expect(await staysSilent((init) => enquire('0123456011', '058', init))).toBe(true);
  expect((await client.submit(client.transferRequest('011'))).body.status).toBe('paid');
});

test('name enquiry: one holder per account, CBN and NIP code of a bank alike, by table and not by padding', async () => {
  const byCbn = await enquire('0123456789', '058');
  expect(byCbn.body).toMatchObject({ bank_name: 'Guaranty Trust Bank', nip_code: '000013' });
  expect(byCbn.body['account_name']).toMatch(/^[A-Z]+ [A-Z]+$/);
  expect((await enquire('0123456789', '000013')).body).toEqual(byCbn.body);
  expect((await enquire('0123456789', '000058')).status).toBe(404);
  const { body } = await client.submit(client.transferRequest('789', { bank_code: '000058' }));
  expect(body).toMatchObject({ status: 'refused', code: 'no_such_account' });
});

test('the list of banks has each code once', async () => {
  const { body } = await client.call<{ banks: { code: string; nip_code: string }[] }>('/v1/banks');
  const codes = body.banks.flatMap((each) => [each.code, each.nip_code]);
  expect(body.banks.length).toBeGreaterThan(20);
  expect(new Set(codes).size).toBe(codes.length);
});

test('no callback and no answer carries an account number', async () => {
  const request = client.transferRequest('006');
  const answers = [
    await client.submit(request),
    await client.reportOutcome(request.reference, 'paid'),
  ];
  const [callback] = await receiver.wait(request.reference, 1);
  const everything = JSON.stringify([answers, await client.journal(request.reference)]);
  expect(everything).not.toContain(request.account);
  expect(callback?.raw.toString()).not.toContain(request.account);
});
