import { customers } from '../../src/capabilities/customers/record.js';
import { acceptVirtualAccount } from '../../src/capabilities/virtual-accounts/mutations.js';
import {
  newVirtualAccount,
  virtualAccounts,
} from '../../src/capabilities/virtual-accounts/record.js';
import { decide, type Snapshot } from '../../src/core/commit/unit-of-work.js';
import { apply } from '../support/decisions.js';
import { emptySnapshot, NOW } from '../support/transfers.js';

const TENANT = 'ten_1';

/** Accepts an account of a customer, if it has fewer than `maxOpen`. */
function accept(
  snapshot: Snapshot,
  named: { id?: string; name?: string; email?: string },
  { maxOpen = 10, isUnnamed = false } = {},
): Snapshot {
  const { id = 'customer-77', name = null, email = null } = named;
  const account = newVirtualAccount(
    {
      tenantId: TENANT,
      provider: 'sandbox-bank',
      customer: { id, name, email, phone: '+2348012345678' },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    NOW,
  );
  const input = { tenantId: TENANT, account, isUnnamed, maxOpen, claim: null };
  const { writes } = decide(snapshot, [{ mutation: acceptVirtualAccount, input }], NOW);
  return apply(snapshot, writes);
}

const written = ({ records }: Snapshot) => records.all(customers);

test('the commit that accepts an account writes its customer, without the phone number', () => {
  const after = accept(emptySnapshot(), { name: 'Ada Obi', email: 'ada@example.com' });
  expect(written(after)).toMatchObject([
    { tenant_id: TENANT, customer_id: 'customer-77', name: 'Ada Obi', email: 'ada@example.com' },
  ]);
  expect(JSON.stringify(written(after))).not.toContain('8012345678');
});

test('a later account changes e-mail and name where it names them, and adds no second customer', () => {
  const first = accept(emptySnapshot(), { name: 'Ada Obi', email: 'ada@example.com' });
  expect(written(accept(first, {}))).toEqual(written(first));
  const renamed = written(accept(first, { name: 'Ada Eze' }));
  expect(renamed).toMatchObject([{ name: 'Ada Eze', email: 'ada@example.com', version: 2 }]);
  expect(written(accept(first, { id: 'customer-78' }))).toHaveLength(2);
});

test('an account that is refused writes no customer', () => {
  expect(written(accept(emptySnapshot(), { name: 'Ada Obi' }, { maxOpen: 0 }))).toEqual([]);
});

test('an account gets the name and e-mail that earlier requests gave its customer, and is named by it', () => {
  const first = accept(emptySnapshot(), { name: 'Ada Obi', email: 'ada@example.com' });
  const after = accept(first, {}, { isUnnamed: true });
  const customer = { id: 'customer-77', name: 'Ada Obi', email: 'ada@example.com' };
  expect(after.records.all(virtualAccounts).at(-1)).toMatchObject({
    account_name: 'Ada Obi',
    customer,
  });
  const unknown = accept(emptySnapshot(), {}, { isUnnamed: true });
  expect(unknown.records.all(virtualAccounts)).toMatchObject([
    { account_name: 'customer-77', customer: { name: null, email: null } },
  ]);
});
