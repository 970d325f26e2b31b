import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '../../src/shared/ids.js';
import { createPaystackBanks } from '../../src/core/providers/paystack/banks.js';
import { createPaystackClient } from '../../src/core/providers/paystack/client.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import { never, settingsFor } from './support.js';

const GTB = { id: 9, name: 'Guaranty Trust Bank', code: '058', type: 'nuban', active: true };
const ACCESS = { id: 1, name: 'Access Bank', code: '044', type: 'nuban', active: true };

/** A server with this list of banks, by pages, which counts the questions for it and knows nothing else. */
async function startBanks(pages: readonly (readonly unknown[])[], isEndless = false) {
  let questions = 0;
  let isDown = false;
  let now = 0;
  const server = createServer((request, response) => {
    questions += 1;
    if (isDown) return void request.socket.destroy();
    const url = new URL(request.url ?? '', 'http://localhost');
    const page = Number(url.searchParams.get('next')?.replace('bank-', '') ?? 0);
    const next = isEndless || page + 1 < pages.length ? `bank-${page + 1}` : null;
    const data = pages[page % pages.length];
    response.setHeader('content-type', 'application/json');
    return void response.end(
      JSON.stringify({ status: true, message: 'Banks retrieved', data, meta: { next } }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = settingsFor(url);
  const banks = createPaystackBanks(createPaystackClient(settings), () => now);
  return {
    banks,
    transfers: createPaystackTransfers(settings, banks),
    payments: createPaystackPayments(settings, banks),
    questions: () => questions,
    /** Two hours pass, and `/bank` does not answer any more. */
    goDown: () => {
      isDown = true;
      now += 7_200_000;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const account = '0123456100';
const transferTo = (bankCode: string) => ({
  reference: newId('transfer'),
  clientReference: 'INV-118',
  amountMinor: 1_250_000n,
  currency: 'NGN' as const,
  recipient: { account, bankCode, name: null },
  narration: 'Invoice 118',
  requestedAt: new Date(),
});

const mandateAt = (bankCode: string) => ({
  reference: newId('paymentToken'),
  clientReference: 'INV-118',
  customer: { id: 'customer-1', email: 'payer@example.com', name: null },
  channel: { type: 'bank_account' as const, account, bankCode },
  returnUrl: null,
  requestedAt: new Date(),
});

describe('the list of banks', () => {
  let started: Awaited<ReturnType<typeof startBanks>> | undefined;
  const start = async (...of: Parameters<typeof startBanks>) => (started = await startBanks(...of));
  afterEach(() => started?.close());

  test.each([
    ['an empty list', []],
    ['no list of objects', ['nothing']],
    ['active is 1', [{ ...GTB, active: 1 }]],
    ['the code is a number', [{ ...GTB, code: 58 }]],
    ['without a type', [{ ...GTB, type: undefined }]],
  ])('with %s, nothing is refused, and the list is read again', async (_what, rows) => {
    const { transfers, payments, banks, questions } = await start([rows]);
    const unknown = { kind: 'unknown', reason: 'unreadable' };
    expect(await banks.list(never)).toMatchObject(unknown);
    expect(await transfers.prepare?.(transferTo('058'), never)).toMatchObject(unknown);
    const resolved = await transfers.resolveAccount({ account, bankCode: '058' }, never);
    expect(resolved).toMatchObject({ kind: 'no_answer', reason: 'unreadable' });
    const resumed = { id: '4410229', account: { account, bankCode: '058' } };
    expect(await payments.resumeRefund?.(resumed, never)).toMatchObject(unknown);
    // Nothing was sent, so this is the answer to a request that can be sent again, and not that of a lost page.
    expect(await payments.setUp?.(mandateAt('058'), never)).toMatchObject({ kind: 'throttled' });
    expect(questions()).toBe(5);
  });

  test('a bank that is not among the rows that can be read may be in another', async () => {
    const { banks } = await start([[ACCESS], [{ ...GTB, active: 1 }]]);
    expect(await banks.find('044', never)).toMatchObject({
      name: 'Access Bank',
      nipCode: '000014',
    });
    expect(await banks.find('058', never)).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
  });

  test('a bank that no row of a whole list has is none', async () => {
    const { transfers, banks } = await start([[ACCESS], [GTB]]);
    expect(await banks.find('000013', never)).toMatchObject({ code: '058' });
    expect(await banks.find('999', never)).toBeNull();
    expect(await transfers.prepare?.(transferTo('999'), never)).toMatchObject({
      kind: 'rejected',
      code: 'invalid_account',
      scope: 'request',
    });
  });

  test('concurrent callers share one reading of the list', async () => {
    const { banks, questions } = await start([[ACCESS], [GTB]]);
    const found = await Promise.all(['044', '058', '044'].map((code) => banks.find(code, never)));
    expect(found).toMatchObject([{ code: '044' }, { code: '058' }, { code: '044' }]);
    expect(questions()).toBe(2);
  });

  test('an old list is used while Paystack does not list its banks, but proves no absence', async () => {
    const { banks, goDown } = await start([[ACCESS]]);
    expect(await banks.find('044', never)).toMatchObject({ code: '044' });
    goDown();
    for (const _ of [1, 2]) {
      expect(await banks.find('044', never)).toMatchObject({ code: '044' });
      expect(await banks.find('058', never)).toMatchObject({ kind: 'unknown' });
    }
  });

  test('a caller that gives up waits no longer for the list', async () => {
    const { banks } = await start([[ACCESS]]);
    expect(await banks.find('044', AbortSignal.abort())).toMatchObject({ reason: 'timeout' });
  });

  test('a list without an end is no list', async () => {
    const { banks, questions } = await start([[ACCESS]], true);
    expect(await banks.find('044', never)).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
    const asked = questions();
    await banks.find('044', never);
    expect(questions()).toBe(2 * asked);
  });
});
