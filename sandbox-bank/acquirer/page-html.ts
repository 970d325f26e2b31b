import { createHash } from 'node:crypto';
import type { ChargeStatus } from './charge-state.js';
import type { PaymentMethod } from './payment-methods.js';
import type { Channel, ChargePageRequest } from './records.js';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --accent: #0b6e4f; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --accent: #4cc38a; --on-accent: #06281b; } }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 32rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
.sandbox { padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; font-size: .875rem; }
h1 { font-size: 1rem; font-weight: 600; margin: 1.5rem 0 0; }
.amount { font-size: clamp(1.5rem, 6.5vw, 2.25rem); font-weight: 700; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .125rem 1rem; margin: 1rem 0; font-size: .9375rem; }
dd { margin: 0; overflow-wrap: anywhere; }
fieldset { border: 0; padding: 0; margin: 1.5rem 0; min-width: 0; }
legend { font-weight: 600; padding: 0 0 .5rem; }
label { display: flex; gap: .75rem; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem; margin-bottom: .5rem; cursor: pointer; }
label:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
input { accent-color: var(--accent); width: 1.125rem; height: 1.125rem; margin: .1875rem 0 0; flex: none; }
small { display: block; font-size: .875rem; opacity: .8; }
button, .button { display: block; width: 100%; padding: .75rem 1rem; border-radius: .5rem; border: 1px solid var(--accent); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; margin-bottom: .5rem; }
.pay { background: var(--accent); color: var(--on-accent); }
.leave { background: none; color: inherit; border-color: var(--line); }
[role=alert] { border-left: .25rem solid #d33; padding: .25rem .75rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/**
 * The page loads and runs nothing but the style above. `form-action` is not set, because a form leads back to the
 * client.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

type Shown = { amount_minor: number; client_reference: string };

/** The page on which the customer chooses a payment method. */
export function payPage(
  shown: Shown & {
    customer: ChargePageRequest['customer'];
    channel: Channel;
    choices: readonly PaymentMethod[];
    problem: string | null;
  },
): string {
  const { customer, channel, choices, problem } = shown;
  const isCard = channel.type === 'card';
  const account = isCard ? '' : ` with the account that ends in ${channel.account.slice(-4)}`;
  const amount = naira(shown.amount_minor);
  return layout(
    `Pay ${amount}`,
    `${problem === null ? '' : `<p role="alert">${escaped(problem)}</p>`}
<h1>To pay${escaped(account)}</h1>
<p class="amount">${amount}</p>
<dl>
<dt>Reference</dt><dd>${escaped(shown.client_reference)}</dd>
<dt>Customer</dt><dd>${escaped(customer.name ?? customer.email)}</dd>
</dl>
<form method="post">
<fieldset>
<legend>${isCard ? 'Choose a test card' : 'Choose what happens'}</legend>
${choices.map(choiceField).join('\n')}
</fieldset>
<button class="pay" name="action" value="pay">Pay ${amount}</button>
<button class="leave" name="action" value="cancel">Cancel, pay nothing</button>
</form>`,
  );
}

function choiceField({ id, title, hint }: PaymentMethod, index: number): string {
  const checked = index === 0 ? ' checked' : '';
  return `<label><input type="radio" name="choice" value="${escaped(id)}"${checked} required>
<span>${escaped(title)}<small>${escaped(hint)}</small></span></label>`;
}

const ENDS: Record<ChargeStatus, string> = {
  open: 'This payment is open',
  pending: 'This payment is being processed',
  paid: 'Paid',
  declined: 'This payment was declined',
  saved: 'Saved',
  abandoned: 'This payment is open',
  cancelled: 'This payment was cancelled',
};

/** The page of a charge that has ended, with a link back to the client. */
export function endPage(shown: Shown & { status: ChargeStatus; returnUrl: string | null }): string {
  const { status, returnUrl } = shown;
  const end = ENDS[status];
  const back = returnUrl
    ? `<a class="button pay" href="${escaped(returnUrl)}">Back to the shop</a>`
    : '<p>You can close this page.</p>';
  return layout(
    end,
    `<h1>${end}</h1>
<p class="amount">${naira(shown.amount_minor)}</p>
<dl><dt>Reference</dt><dd>${escaped(shown.client_reference)}</dd></dl>
${back}`,
  );
}

/** The page for an unknown access code. */
export function missingPage(): string {
  return layout('No such payment', '<h1>There is no such payment</h1>');
}

function layout(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="sandbox"><strong>Sandbox.</strong> No money moves, and no card is needed.</p>
${content}
</main>
</body>
</html>
`;
}

function naira(minor: number): string {
  const whole = (BigInt(minor) / 100n).toLocaleString('en');
  return `₦${whole}.${String(minor % 100).padStart(2, '0')}`;
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '');
}
