import { createVirtualAccountCreation } from '../../src/capabilities/virtual-accounts/create.js';
import {
  createVirtualAccountBody,
  listVirtualAccountsQuery,
} from '../../src/capabilities/virtual-accounts/schema.js';

test('the filter of the list finds a customer by each spelling of its id', () => {
  const { customer_id: found } = listVirtualAccountsQuery.parse({ customer_id: 'Rene\u0301' });
  expect(found).toBe('Ren\u00e9');
  expect(createVirtualAccountBody.parse({ customer_id: 'Rene\u0301' }).customer_id).toBe(found);
});

test('a refusal lists every field that the provider needs', async () => {
  const create = createVirtualAccountCreation({
    provider: () => ({ name: 'paystack', accounts: { needs: ['name', 'phone'] } }),
  } as unknown as Parameters<typeof createVirtualAccountCreation>[0]);
  const body = createVirtualAccountBody.parse({ customer_id: 'customer-77' });
  await expect(create('ten_1', body, null)).rejects.toMatchObject({
    code: 'validation_error',
    field: 'customer.name',
    details: { issues: [{ field: 'customer.name' }, { field: 'customer.phone' }] },
  });
});
