import { startSandboxBank, type RunningSandboxBank } from '../../../sandbox-bank/server.js';
import { acquirerClient, submitForm, type AcquirerClient } from './support.js';
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

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startReceiver();
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET, callbackUrl: service.url });
  client = acquirerClient(bankClient(bank.url));
});

afterAll(async () => {
  await bank.close();
  await service.close();
  removeFolder(folder);
});

const pay = (url: string, choice = 'good') => submitForm(url, { action: 'pay', choice });
const cancel = (url: string) => submitForm(url, { action: 'cancel' });
const backTo = (reference: string) => `https://shop.example/paid?cart=7&reference=${reference}`;
const stateOf = async (reference: string) => (await client.lookup(reference)).body;
const text = async (url: string) => (await fetch(url)).text();

describe('the page', () => {
  test('the page is HTML without script, and has no field for a card number', async () => {
    const { url, reference } = await client.newPage();
    expect(await stateOf(reference)).toMatchObject({ status: 'awaiting_customer' });
    const response = await fetch(url);
    const html = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(html).toContain('₦3,000.00');
    expect(html).not.toMatch(/<script|\son[a-z]+=|javascript:/i);
    const types = [...html.matchAll(/<input type="(\w+)"/g)].map(([, type]) => type);
    expect(new Set(types)).toEqual(new Set(['radio']));
    expect(html).not.toMatch(/<(textarea|select|input(?! type="radio"))/);
    // Nothing on it is as long as a card number.
    expect(html.replace(/<style>[^]*<\/style>|test_\w+/g, '')).not.toMatch(/\d{8}/);
  });

  test('the page escapes all text of the client', async () => {
    const evil = `<img src=x onerror="alert('1')">&amp;`;
    const { url } = await client.newPage('789', {
      client_reference: evil,
      customer: { id: evil, email: 'ada@example.com', name: evil },
      return_url: `https://shop.example/?q="><script>`,
    });
    const open = await text(url);
    await cancel(url);
    for (const html of [open, await text(url)]) {
      expect(html).not.toMatch(/<img|<script|&amp; *<\/d/);
      expect(html).toContain('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;');
    }
  });

  test('an unknown page is a readable 404', async () => {
    for (const response of [await fetch(`${bank.url}/pay/x`), await pay(`${bank.url}/pay/x`)]) {
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('There is no such payment');
    }
  });

  test('a reference has one page, and a different request with it is a conflict', async () => {
    const request = client.pageRequest();
    const answers = [await client.initialize(request), await client.initialize(request)];
    expect(answers.map(({ status }) => status)).toEqual([201, 200]);
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    for (const change of [{ amount_minor: 1 }, { return_url: null }, { client_reference: 'x' }]) {
      const { body } = await client.initialize({ ...request, ...change });
      expect(body.error?.code).toBe('reference_conflict');
    }
  });
});

describe('actions of the customer', () => {
  test('a payment redirects with the reference and without the outcome, and is reported by callback', async () => {
    const { url, reference, client_reference } = await client.newPage();
    const response = await pay(url);
    expect([response.status, response.headers.get('location')]).toEqual([303, backTo(reference)]);
    const state = await stateOf(reference);
    expect(state).toMatchObject({
      status: 'paid',
      paid_minor: 300_000,
      fee_minor: 14_500,
      authorization: {
        authorization: expect.stringMatching(/^authz_[0-9a-f]{32}$/) as string,
        type: 'card',
        brand: 'verve',
        last4: '4081',
        bank_code: null,
        reusable: true,
      },
    });
    const [callback] = await service.wait(reference, 1);
    const { redirect_url: _, ...reported } = state;
    expect(callback?.body).toMatchObject({ event: 'charge.paid', data: reported });
    expect(await client.effects({ reference })).toEqual([
      expect.objectContaining({ kind: 'charged', client_reference, amount_minor: 300_000 }),
    ]);
    const html = await text(url);
    expect(html).toContain('Paid');
    expect(html).toContain(`href="${backTo(reference).replace('&', '&amp;')}"`);
  });

  test.each([
    ['low_funds', 'insufficient_funds', 'soft'],
    ['stolen', 'stolen_card', 'hard'],
  ])('paying with %s is declined: %s, %s', async (choice, code, decline) => {
    const { url, reference } = await client.newPage();
    expect((await pay(url, choice)).headers.get('location')).toBe(backTo(reference));
    const declined = { status: 'declined', code, decline, authorization: null };
    expect(await stateOf(reference)).toMatchObject(declined);
    const [callback] = await service.wait(reference, 1);
    expect(callback?.body).toMatchObject({ event: 'charge.declined', data: declined });
    expect(await text(url)).toContain('declined');
    expect(await client.kinds(reference)).toEqual([]);
  });

  test('016: a declined method leaves the page open, and another one pays', async () => {
    const { url, reference } = await client.newPage('016');
    const declined = await pay(url, 'stolen');
    expect([declined.status, await declined.text()]).toEqual([
      200,
      expect.stringContaining('Choose something else'),
    ]);
    expect(await stateOf(reference)).toMatchObject({
      status: 'awaiting_customer',
      code: 'stolen_card',
    });
    await pay(url);
    expect(await stateOf(reference)).toMatchObject({ status: 'paid', code: null });
    const callbacks = await service.wait(reference, 1);
    expect(callbacks.map(({ body }) => body.event)).toEqual(['charge.paid']);
  });

  test('a cancelled page is over', async () => {
    const { url, reference } = await client.newPage();
    expect((await cancel(url)).headers.get('location')).toBe(backTo(reference));
    expect(await stateOf(reference)).toMatchObject({ status: 'cancelled' });
    expect((await service.wait(reference, 1))[0]?.body.event).toBe('charge.cancelled');
    expect(await text(url)).toContain('cancelled');
  });

  test('the first of several concurrent or different actions counts, and once', async () => {
    const { url, reference } = await client.newPage();
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay(url)));
    answers.push(await cancel(url), await pay(url, 'stolen'));
    for (const { status, headers } of answers) {
      expect([status, headers.get('location')]).toEqual([303, backTo(reference)]);
    }
    expect(await stateOf(reference)).toMatchObject({ status: 'paid' });
    expect(await client.kinds(reference)).toEqual(['charged']);
  });

  test('a form that says nothing changes nothing and is shown again', async () => {
    const { url, reference } = await client.newPage();
    for (const fields of [{}, { action: 'pay' }, { action: 'pay', choice: 'gold' }]) {
      const response = await submitForm(url, fields);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('role="alert"');
    }
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(415);
    expect(await stateOf(reference)).toMatchObject({ status: 'awaiting_customer' });
  });

  test('without an address to go back to, the page itself says how it ended', async () => {
    const { url, reference } = await client.newPage('789', { return_url: null });
    const response = await pay(url);
    expect(response.status).toBe(303);
    const html = await text(new URL(response.headers.get('location') ?? '', url).href);
    expect(html).toContain('You can close this page');
    expect(await stateOf(reference)).toMatchObject({ status: 'paid' });
  });
});

describe('a page of a bank account', () => {
  const channel = { type: 'bank_account', account: '0123456789', bank_code: '058' };

  test('a payment by bank account shows only the account’s last digits, and creates a mandate', async () => {
    const { url, reference } = await client.newPage('789', { channel });
    const html = await text(url);
    expect(html).toContain('6789');
    expect(html).not.toContain('0123456789');
    await pay(url);
    const { authorization } = await stateOf(reference);
    expect(authorization).toMatchObject({
      type: 'bank_account',
      brand: null,
      last4: '6789',
      bank_code: '058',
      bank_name: 'Guaranty Trust Bank',
      expiry_year: null,
    });
    const left = await client.newAuthorization('later_declined', { channel });
    const { body } = await client.charge(client.chargeRequest(left));
    expect(body).toMatchObject({ status: 'declined', decline: 'hard' });
  });

  test('a payment by an account of an unknown bank is refused', async () => {
    const request = client.pageRequest('789', { channel: { ...channel, bank_code: '000' } });
    expect((await client.initialize(request)).body).toMatchObject({
      status: 'declined',
      code: 'no_such_account',
      decline: 'hard',
    });
  });
});

describe('outcomes selected by the reference', () => {
  test('001: paid later, reported by callback only', async () => {
    const { url, reference } = await client.newPage('001');
    expect((await pay(url)).status).toBe(303);
    expect(await stateOf(reference)).toMatchObject({ status: 'pending', authorization: null });
    expect(await text(url)).toContain('being processed');
    expect((await service.wait(reference, 1))[0]?.body.event).toBe('charge.paid');
    await eventually(async () => ((await stateOf(reference)).status === 'paid' ? true : undefined));
    expect((await stateOf(reference)).authorization).not.toBeNull();
  });

  test('004: there is a page, but the answer never comes; 005: neither; 007 and 010 first fail', async () => {
    for (const [suffix, status] of [
      ['004', 200],
      ['005', 404],
    ] as const) {
      const request = client.pageRequest(suffix);
      expect(await staysSilent((init) => client.initialize(request, init))).toBe(true);
      expect((await client.lookup(request.reference)).status).toBe(status);
    }
    for (const [suffix, statuses] of [
      ['007', [500, 500, 500, 201]],
      ['010', [429, 201]],
    ] as const) {
      const request = client.pageRequest(suffix);
      for (const status of statuses) expect((await client.initialize(request)).status).toBe(status);
    }
  });

  test('006: a page stays pending until the outcome is set at the network', async () => {
    const { url, reference } = await client.newPage('006');
    await pay(url);
    expect(await stateOf(reference)).toMatchObject({ status: 'pending' });
    const { body } = await client.reportOutcome(reference, { outcome: 'paid' });
    expect(body).toMatchObject({ status: 'paid', authorization: { last4: '4081' } });
  });

  test('009: reported three times and out of order; 014: half is paid', async () => {
    const shuffled = await client.newPage('009');
    await pay(shuffled.url);
    const callbacks = await service.wait(shuffled.reference, 4);
    expect(callbacks.map(({ body }) => body.event)).toEqual([
      'charge.paid',
      'charge.pending',
      'charge.paid',
      'charge.paid',
    ]);
    const half = await client.newPage('014');
    await pay(half.url);
    expect(await stateOf(half.reference)).toMatchObject({ status: 'paid', paid_minor: 150_000 });
  });
});

describe('the audit route for outcomes', () => {
  test('the audit route completes a page without a browser, by either reference', async () => {
    const [paid, chosen, declined, left] = await Promise.all([
      client.newPage(),
      client.newPage(),
      client.newPage(),
      client.newPage(),
    ]);
    await client.reportOutcome(paid.reference, { outcome: 'paid' });
    await client.reportOutcome(chosen.client_reference, {
      outcome: 'paid',
      choice: 'later_low_funds',
    });
    await client.reportOutcome(declined.reference, { outcome: 'declined' });
    await client.reportOutcome(left.reference, { outcome: 'abandoned' });
    expect(await stateOf(paid.reference)).toMatchObject({ authorization: { last4: '4081' } });
    expect(await stateOf(chosen.reference)).toMatchObject({ authorization: { last4: '0003' } });
    expect(await stateOf(declined.reference)).toMatchObject({ decline: 'hard' });
    expect(await stateOf(left.reference)).toMatchObject({ status: 'abandoned' });
    for (const each of [paid, chosen, declined, left]) await service.wait(each.reference, 1);
    const wrong = await client.newPage();
    for (const reported of [
      { outcome: 'paid', choice: 'gold' },
      { outcome: 'declined', choice: 'good' },
    ]) {
      expect((await client.reportOutcome(wrong.reference, reported)).status).toBe(400);
    }
  });

  test('the audit route also pays an abandoned page, and a pending one', async () => {
    const late = await client.newPage();
    await client.reportOutcome(late.reference, { outcome: 'abandoned' });
    expect(await text(late.url)).toContain('To pay');
    await client.reportOutcome(late.reference, { outcome: 'paid' });
    expect(await stateOf(late.reference)).toMatchObject({ status: 'paid' });
    const callbacks = await service.wait(late.reference, 2);
    expect(callbacks.map(({ body }) => body.event)).toEqual(['charge.abandoned', 'charge.paid']);
    const waiting = await client.newPage('006');
    const { body } = await client.reportOutcome(waiting.reference, { outcome: 'paid' });
    expect(body.status).toBe('paid');
  });
});
