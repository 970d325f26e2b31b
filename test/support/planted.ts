import { billClient } from './bill-payments.js';
import { cardClient, newCard } from './cards.js';
import { identityClient, newCustomerId, type CheckView } from './identity.js';
import { activeToken, newCustomer, paymentClient } from './payments.js';
import type { Service } from './service.js';
import { transferBody, type TestTenant } from './tenant.js';
import { accountClient } from './virtual-accounts.js';

const CUSTOMER = { email: 'planted.customer@plant.example', name: 'Plantedcustomer Obi' };
const PHONE = '+2348035557713';
/** The account of the recipient of the planted transfer. */
export const PLANTED_RECIPIENT = '7193650789';
const DEBITED = '7193651234';
const METER = '71936520789';
const SENDER = 'Plantedsender Eze';

/** Uses every capability that takes a secret or personal data. Returns the planted values, with a name for each. */
export async function plant(service: Service, tenant: TestTenant): Promise<Record<string, string>> {
  const payments = paymentClient(tenant);
  const accounts = accountClient(tenant);
  const transfer = await tenant.transfer(
    transferBody('789', { recipient_account: PLANTED_RECIPIENT }),
    {
      key: 'a transfer of the search',
    },
  );
  const { recipient_name: recipient } = await tenant.waitFor(transfer.body.data.id, 'completed');
  const { token } = await activeToken(payments, 'good', newCustomer(CUSTOMER));
  const bank = { customer: newCustomer(CUSTOMER), account_number: DEBITED, bank_code: '058' };
  expect((await payments.call('POST', '/payments/tokens/bank-account', bank)).status).toBe(201);
  const card = await cardClient(tenant).create(newCard('789', { name: CUSTOMER.name }));
  expect(card.status).toBe(201);
  const account = await accounts.active('789', {
    customer_id: undefined,
    customer: newCustomer({ ...CUSTOMER, phone: PHONE }),
  });
  await service.bank.deposit(account.account_number, { amount_minor: 40_000, sender_name: SENDER });
  const bills = billClient(tenant);
  const bill = await bills.send('789', { customer_reference: METER });
  const { receipt } = await bills.waitFor(bill, 'completed');
  await accounts.waitFor(account.id, ({ total_received_minor: total }) => total > 0);
  await service.allEnded();
  const stored = await service.deps.paymentTokens.store.get(tenant.id, token.payment_token_id);
  return {
    'an authorization': String(stored?.authorization),
    'the account of a recipient': PLANTED_RECIPIENT,
    'the name of a recipient': String(recipient),
    'a debited account': DEBITED,
    'an e-mail': CUSTOMER.email,
    'the name of a customer': CUSTOMER.name,
    'a telephone number': PHONE,
    'the name of a sender': SENDER,
    'the number of a meter': METER,
    'the token of a meter': String(receipt?.token),
  };
}

/** The subject of the planted checks, and their numbers: each ending takes another way to its end, and 006 stays pending. */
const PERSON = {
  first_name: 'Onyekachukwu',
  last_name: 'Plantedname',
  date_of_birth: '1987-04-21',
};
const NUMBERS = ['22190817002', '22190817004', '22190817006', '22190817007', '22190817789'];
const ACCOUNT = { account_number: '3190817001', bank_code: '058', bvn: '22290817555' };

/** Requests identity checks. Returns them, and the planted values with a name for each. */
export async function plantChecks(tenant: TestTenant) {
  const identity = identityClient(tenant);
  const { date_of_birth: _, ...name } = PERSON;
  const bodies = [
    ...NUMBERS.map((number, i) => ({ type: i % 2 === 0 ? 'bvn' : 'nin', ...PERSON, number })),
    { type: 'bank_account', ...ACCOUNT, ...name },
  ] as const;
  const checks: CheckView[] = [];
  for (const { type, ...body } of bodies) {
    const checked = { type: type as CheckView['check_type'], body };
    const reply = await identity.verify(newCustomerId(), checked, {
      key: `check ${checks.length}`,
    });
    expect(reply.status).toBe(201);
    checks.push(reply.body.data);
  }
  const { first_name: first, last_name: last, date_of_birth: born } = PERSON;
  const numbers = [...NUMBERS, ACCOUNT.account_number, ACCOUNT.bvn];
  const values: Record<string, string> = Object.fromEntries(
    numbers.map((number, i) => [`number ${i} of a check`, number]),
  );
  return {
    checks,
    planted: { ...values, 'a first name': first, 'a last name': last, 'a day of birth': born },
  };
}
