import type { Answer } from './answers.js';
import type { Context } from './context.js';
import type { Desk } from './desk.js';
import type { Request } from './http.js';
import type { SavedOutcome } from './records.js';

/** The buttons of a checkout page. */
const BUTTONS = [
  ['pay', 'Pay'],
  ['surcharge', 'Pay, with our fees on top'],
  ['decline', 'Have the card declined'],
  ['leave', 'Leave without paying'],
] as const;

const NEXT: readonly SavedOutcome[] = [
  'success',
  'paused',
  'pending',
  'insufficient_funds',
  'expired',
];

/** The pages that customers see: a checkout, and a mandate. Undefined for any other path. */
export function pageFor(ctx: Context, desk: Desk, request: Request): Answer | undefined {
  const [, kind, code = ''] = request.path.split('/');
  if (kind === 'mandate') {
    if (request.method === 'POST') desk.activateMandate(code);
    return html(`<h1>Mandate</h1><form method="post"><button>Confirm</button></form>`);
  }
  if (kind !== 'checkout') return undefined;
  const transaction = ctx.transactions.all().find(({ accessCode }) => accessCode === code);
  if (!transaction) return { ...html('<h1>No such page</h1>'), status: 404 };
  const { reference, callbackUrl } = transaction;
  if (request.method !== 'POST') return html(checkout(transaction.amount, transaction.status));
  const { choice, next = 'success' } = request.body as { choice?: string; next?: SavedOutcome };
  const surcharge = choice === 'surcharge' ? { surcharge: Math.ceil(transaction.amount / 50) } : {};
  if (choice === 'pay' || choice === 'surcharge') desk.pay(reference, { next, ...surcharge });
  if (choice === 'decline') desk.decline(reference);
  if (choice === 'decline' || callbackUrl === null) {
    return html(checkout(transaction.amount, choice ?? ''));
  }
  const back = new URL(callbackUrl);
  back.searchParams.set('trxref', reference);
  back.searchParams.set('reference', reference);
  return { ...html(''), status: 303, headers: { location: back.href } };
}

const html = (body: string): Answer => ({ status: 200, body });

const checkout = (amount: number, status: string) => `<h1>Checkout of the fake Paystack</h1>
<p>${(amount / 100).toFixed(2)} NGN, ${status}</p>
<form method="post">
<label>Later charges of this card:
<select name="next">${NEXT.map((next) => `<option>${next}</option>`).join('')}</select></label>
${BUTTONS.map(([value, text]) => `<button name="choice" value="${value}">${text}</button>`).join('\n')}
</form>`;
