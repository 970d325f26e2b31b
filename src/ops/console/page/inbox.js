import { read } from './api.js';
import { field, h, note, table } from './dom.js';
import { age, linked, money, time } from './format.js';
import { addressOf, kindOf } from './kinds.js';

const ORDERS = {
  'longest waiting first': (a, b) => (a.since < b.since ? -1 : 1),
  'most money first': (a, b) => (b.amount ?? 0) - (a.amount ?? 0),
};

/** Rows of a list of the operator API, at most. */
const listed = () => Number(document.getElementById('screen').dataset.listed);

/** Everything that waits for an operator: attention, open breaks and requests for a second person. */
export async function inboxScreen() {
  const [attention, breaks, requests, tenants] = await Promise.all([
    read('/attention'),
    read('/breaks', { status: 'open' }),
    read('/approvals', { open: true }),
    read('/tenants'),
  ]);
  const names = new Map(tenants.map(({ id, name }) => [id, name]));
  const waiting = [
    ...requests.map(ofRequest),
    ...attention.map(ofAttention),
    ...breaks.map(ofBreak),
  ];
  const list = h('div');
  const order = h(
    'select',
    { onchange: () => list.replaceChildren(rowsOf(waiting, order.value, names)) },
    Object.keys(ORDERS).map((name) => h('option', {}, name)),
  );
  list.append(rowsOf(waiting, 'longest waiting first', names));
  const isCut = [attention, breaks, requests].some(({ length }) => length >= listed());
  const cut = isCut && note('wait', `More may wait: a list has ${listed()} rows at most.`);
  return [h('h1', {}, 'Inbox'), cut, field('Order', order), list];
}

const ofAttention = ({ id, collection, tenant, amount_minor: amount, reason, since }) => ({
  id,
  kind: kindOf(id)?.name ?? collection.replaceAll('_', ' '),
  tenant,
  amount,
  since,
  why: reason,
  next: kindOf(id)?.hint ?? 'See the runbook of its alert.',
});

const ofBreak = ({ id, tenant, kind, amount_minor: amount, difference, created_at: since }) => ({
  id,
  kind: 'Break',
  tenant,
  amount,
  since,
  why: `${kind.replaceAll('_', ' ')}: ${difference}`,
  next: kindOf(id).hint,
});

const ofRequest = ({ id, kind, target, status, maker, reason, created_at: since }) => ({
  id,
  kind: 'Request',
  tenant: null,
  amount: null,
  since,
  why: [`${kind} `, linked(target), ` by ${maker}${reason ? `: ${reason}` : ''}`],
  next:
    status === 'approved'
      ? 'Approved: its maker, or the same approver, carries it out.'
      : kindOf(id).hint,
});

const rowsOf = (waiting, order, names) =>
  table(
    'Waiting',
    [
      ['Record', ({ id, kind }) => [h('strong', {}, kind), ' ', recordLink(id)]],
      [
        'Tenant',
        ({ tenant }) =>
          tenant ? h('a', { href: addressOf(tenant) }, names.get(tenant) ?? tenant) : '–',
      ],
      ['At risk', ({ amount }) => money(amount)],
      ['Waiting', ({ since }) => [age(since), ' ', h('small', {}, 'since ', time(since))]],
      ['Why, and what to do', ({ why, next }) => [h('p', {}, why), h('small', {}, next)]],
    ],
    waiting.toSorted(ORDERS[order]),
  );

const recordLink = (id) => (addressOf(id) ? h('a', { href: addressOf(id) }, id) : id);
