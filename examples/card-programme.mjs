// A card programme that funds just in time: a card has nothing on it until its owner pays, and the amount goes to it while
// the cardholder waits. Run: node card-programme.mjs <name>
import { bank, bursar, naira } from './bursar.mjs';

const name = process.argv[2] ?? `driver-${Date.now()}`;

const { data: card } = await bursar.createCard(
  {
    customer_id: name,
    type: 'virtual',
    security: {
      channels: { online: false, pos: true, atm: false, contactless: true },
      per_transaction_limit_minor: 5_000_000,
      daily_limit_minor: 10_000_000,
      allowed_countries: ['NG'],
      blocked_merchant_categories: ['7995'],
    },
  },
  { idempotencyKey: `${name}-card`, wait: 20 },
);
console.log(`card: ${card.status}`);

await pay('fuel', 1_200_000, 'pos');
// The end 012 of a reference makes the sandbox's issuer answer late: the funding fails after two seconds, and is reversed.
await pay('late-012', 800_000, 'pos');
// A channel that the security settings do not allow. The funding is on the card, and stays there.
await pay('online', 300_000, 'online');

/** A payment at a merchant: the card is funded first, and then the issuer asks for the payment. */
async function pay(what, amount_minor, channel) {
  const transaction_reference = `${name}-${what}`;
  // The answer comes within two seconds: `completed`, or `failed` if the issuer has not confirmed by then.
  const { data: funding } = await bursar.jitFundCard(
    { card_id: card.id, amount_minor, transaction_reference },
    { idempotencyKey: transaction_reference },
  );
  console.log(`${what}: funding ${funding.status} ${funding.failure?.code ?? naira(amount_minor)}`);
  if (funding.status !== 'completed') return;

  // In the sandbox we are the merchant too.
  const payment = await fetch(`${bank}/_sandbox/authorizations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ card: card.id, amount_minor, channel }),
  });
  const { approved, code } = await payment.json();
  console.log(`${what}: payment ${approved ? 'approved' : `declined ${code}`}`);
}
