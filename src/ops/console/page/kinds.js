const ASK =
  'Verify: the provider is asked now. Once it confirms an outcome, complete or fail applies it. If it stays silent, ask its ' +
  'support; complete or fail by force is approved by a second person.';
const NONE = 'Open it: its provider, or another act, decides it.';

const instruction = (name, path) => ({ name, path, hint: ASK, money: true });

/** The kinds of records by the prefix of their ids: name, path in the operator API, and the next step if one waits for an operator. */
export const KINDS = {
  trf: instruction('Transfer', '/transfers'),
  bil: instruction('Bill payment', '/bill-payments'),
  chg: instruction('Charge', '/charges'),
  ref: instruction('Refund', '/refunds'),
  cop: instruction('Card operation', '/cards'),
  va: instruction('Virtual account', '/virtual-accounts'),
  kyc: instruction('Identity check', '/identity-checks'),
  dep: {
    ...instruction('Deposit', '/deposits'),
    hint: 'In suspense: assign it to an account, or return it to its sender. Otherwise verify, then acknowledge.',
  },
  aut: {
    name: 'Card payment',
    path: '/card-authorizations',
    hint: 'Verify: the issuer is asked, and what is missing is booked. Then acknowledge.',
    money: true,
  },
  cdp: { name: 'Dispute of a card payment', path: '/card-disputes', hint: NONE, money: true },
  dsp: {
    name: 'Dispute',
    path: '/disputes',
    hint: 'Acknowledge it, or decide the outcome if the reports of the provider contradict each other.',
    money: true,
  },
  tok: { name: 'Payment token', path: '/payment-tokens', hint: NONE },
  rec: {
    name: 'Recurring charge',
    path: '/recurring-charges',
    hint: 'Repair its last charge, or pause it until its cause is removed.',
  },
  crd: { name: 'Card', path: '/issued-cards', hint: NONE, money: true },
  pev: {
    name: 'Message of a provider',
    path: '/provider-events',
    hint: 'Remove the cause that it names, then replay it.',
  },
  brk: {
    name: 'Break',
    path: '/breaks',
    hint: 'Open it: it says what it means and what ends it. Ask the provider, or close it with the reason.',
  },
  apr: {
    name: 'Request',
    path: '/approvals',
    hint: 'Another person than its maker approves it. Any operator can reject it.',
  },
  dlv: { name: 'Delivery', path: '/webhooks/deliveries' },
};

/** The kind of a record; undefined for an id without a screen. */
export const kindOf = (id) => KINDS[id.split('_', 1)[0]];

/** The address of the screen of an id; null without one. */
export function addressOf(id) {
  if (id.startsWith('ten_')) return `#/tenants/${id}`;
  return kindOf(id) ? `#/records/${id}` : null;
}
