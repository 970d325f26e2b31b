// A shop: a customer pays on the provider's page and saves the card, a later order charges the saved card, and a part of
// it is refunded. Run: node shop.mjs <order>
import { bursar, naira, until } from './bursar.mjs';

// The names of the order are the references and the idempotency keys. A program that dies and runs again with the same
// order gets the first answers, and nobody pays twice. That is so for a day, while the keys last. After it a reference that
// was used is refused with `duplicate_reference`, and the answer names the first record.
const order = process.argv[2] ?? `order-${Date.now()}`;
const customer = { id: `customer-of-${order}`, email: 'ada@example.com', name: 'Ada Obi' };

const { data: token } = await bursar.createCardToken(
  { customer },
  { idempotencyKey: `${order}-token` },
);

// The first payment: the customer enters the card on the provider's page, never on ours.
const first = `${order}-first`;
const { data: page } = await bursar.createCharge(
  {
    amount_minor: 500_000,
    capture_mode: 'customer_action_required',
    customer,
    payment_token_id: token.payment_token_id,
    reference: first,
    return_url: 'https://shop.example/thanks',
  },
  { idempotencyKey: first, wait: 10 },
);
if (page.status === 'requires_action') {
  console.log(`send the customer to ${page.next_action.url}`);
  // In the sandbox we are the customer too, and choose the good card of the page.
  const choice = new URLSearchParams({ action: 'pay', choice: 'good' });
  await fetch(page.next_action.url, { method: 'POST', body: choice, redirect: 'manual' });
}
// The customer is back: Bursar verifies at the provider, and later by itself too. Never believe the browser.
await bursar.verifyCharge({ reference: first });
const paid = await ended('the first payment', () => bursar.getCharge({ reference: first }));
console.log(`first payment: ${paid.status}, ${naira(paid.amount_minor)}`);

// A later order charges the saved card without the customer.
const second = `${order}-second`;
await bursar.createCharge(
  {
    amount_minor: 300_000,
    capture_mode: 'merchant_initiated',
    payment_token_id: token.payment_token_id,
    reference: second,
  },
  { idempotencyKey: second },
);
const charged = await ended('the second payment', () => bursar.getCharge({ reference: second }));
console.log(`second payment: ${charged.status}, ${naira(charged.amount_minor)}`);

// The customer sends a part back.
const refund = `${order}-refund`;
await bursar.createRefund(
  {
    charge_reference: second,
    amount_minor: 100_000,
    reason: 'one item came back',
    reference: refund,
  },
  { idempotencyKey: refund },
);
const refunded = await ended('the refund', () => bursar.getRefund({ reference: refund }));
const { data: after } = await bursar.getCharge({ reference: second });
console.log(
  `refund: ${refunded.status}, ${naira(after.refunded_minor)} of ${naira(after.amount_minor)}`,
);

/** Waits for the end. What follows needs it, so the program stops if the end is not known yet. */
async function ended(what, read) {
  const isOver = ({ status }) => status === 'completed' || status === 'failed';
  const data = await until(read, isOver);
  if (isOver(data)) return data;
  console.error(`${what} is still ${data.status}: run ${order} again later`);
  process.exit(1);
}
