import { createVirtualAccountCreation } from '../../src/capabilities/virtual-accounts/create.js';
import { presentAccount } from '../../src/capabilities/virtual-accounts/presenter.js';
import { newVirtualAccount } from '../../src/capabilities/virtual-accounts/record.js';
import {
  createVirtualAccountBody,
  listVirtualAccountsQuery,
} from '../../src/capabilities/virtual-accounts/schema.js';

test('the filter of the list finds a customer by each spelling of its id', () => {
  const { customer_id: found } = listVirtualAccountsQuery.parse({ customer_id: 'Rene\u0301' });
  expect(found).toBe('Ren\u00e9');
  expect(createVirtualAccountBody.parse({ customer_id: 'Rene\u0301' }).customer_id).toBe(found);
});

describe('a provider that needs more of the customer', () => {
  const refusalOf = (body: object, needs: string[], known: object | null = null) =>
    createVirtualAccountCreation({
      provider: () => ({ name: 'paystack', accounts: { needs } }),
      customers: { get: async () => known },
    } as unknown as Parameters<typeof createVirtualAccountCreation>[0])(
      'ten_1',
      createVirtualAccountBody.parse(body),
      null,
    );

  test('refuses a request with every field that is missing, and says how to send it', async () => {
    const message = expect.stringContaining('send customer in place of customer_id') as string;
    const [name, phone] = ['customer.name', 'customer.phone'];
    await expect(
      refusalOf({ customer_id: 'customer-77' }, ['name', 'phone']),
    ).rejects.toMatchObject({
      code: 'validation_error',
      field: name,
      details: {
        issues: [
          { field: name, message },
          { field: phone, message },
        ],
      },
    });
    await expect(refusalOf({ customer: { id: 'c' } }, ['phone'])).rejects.toMatchObject({
      details: { issues: [{ field: phone, message: 'This field is required.' }] },
    });
  });

  test('does not refuse one for a field that is known of the customer', async () => {
    const known = { name: 'Ada Obi', email: null };
    const asked = refusalOf({ customer_id: 'customer-77' }, ['name', 'email', 'phone'], known);
    await expect(asked).rejects.toMatchObject({
      details: { issues: [{ field: 'customer.email' }, { field: 'customer.phone' }] },
    });
  });
});

test('an account whose provider tells no bank code has the wished one', () => {
  const account = newVirtualAccount(
    {
      tenantId: 'ten_1',
      provider: 'paystack',
      customer: { id: 'customer-77', name: null, email: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: '035',
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    new Date('2026-11-27T09:00:00Z'),
  );
  const face = { handle: '1', accountName: 'Ada Obi', bankName: 'Wema Bank' };
  const coded = (bankCode: string | null) =>
    presentAccount({ ...account, face: { ...face, bankCode } }).bank_code;
  expect([presentAccount(account).bank_code, coded(null), coded('232')]).toEqual([
    '035',
    '035',
    '232',
  ]);
});
