import { actButtons, actsOn } from './acts.js';
import { read } from './api.js';
import { h, note, table } from './dom.js';
import { fields, linked, money, shown, sum, time } from './format.js';
import { kindOf } from './kinds.js';

/** A record of any kind, with the acts on it. `said` is the message of the act that was carried out last. */
export async function recordScreen({ id, me, said = null, reload }) {
  const kind = kindOf(id);
  if (!kind) return [h('h1', {}, id), note('bad', 'The operator API has no screen for this id.')];
  const [data, acts] = await Promise.all([
    read(`${kind.path}/${encodeURIComponent(id)}`),
    actsOn(kind.path, id),
  ]);
  const wrapped = [data.record, data.card, data.break, data.delivery];
  const record = wrapped.find((each) => each && typeof each === 'object') ?? data;
  const around = await aroundOf(kind, id, record.tenant);
  const { attention } = record;
  return [
    h('h1', {}, `${kind.name} `, h('code', {}, id)),
    h('p', { class: 'facts' }, factsOf(record, around.postings)),
    said,
    attention && note('bad', 'Needs an operator: ', linked(attention.reason ?? attention), '.'),
    attention && kind.hint && h('p', {}, kind.hint),
    data.meaning && h('p', {}, data.meaning),
    data.acts &&
      h(
        'ul',
        {},
        data.acts.map((each) => h('li', {}, linked(each))),
      ),
    actButtons(acts, { roles: me.roles, id, onDone: reload }),
    requestsOf(around.requests),
    fields(record),
    data.timeline && timelineOf(data.timeline),
    kind.money && postingsOf(around.postings),
    kind.money && deliveriesOf(around.deliveries),
    Object.entries(data).map(([name, list]) => furtherList(name, list)),
    auditOf(around.audit),
  ];
}

/** What other lists have of a record. */
async function aroundOf(kind, id, tenant) {
  const [audit, open, postings, deliveries] = await Promise.all([
    read('/audit', { target: id }),
    read('/approvals', { open: true }),
    kind.money && tenant ? read(`/records/${encodeURIComponent(id)}/postings`, { tenant }) : [],
    kind.money && tenant ? read('/webhooks/deliveries', { tenant, resource: id }) : [],
  ]);
  return { audit, postings, deliveries, requests: open.filter(({ target }) => target === id) };
}

/** State, amount, and the money on hold and in suspense, by the postings that are not in the archive. */
function factsOf({ status, state, amount_minor: amount, currency }, postings) {
  const legs = postings.flatMap((posting) => posting.legs);
  const on = (isMeant) =>
    sum(legs.filter(({ account }) => isMeant(account)).map((leg) => leg.amount_minor));
  const held = on((account) => account.endsWith(':held'));
  const suspense = on((account) => account === 'suspense');
  return [
    h('strong', { class: 'state' }, state ?? status ?? ''),
    amount === undefined ? [] : h('span', {}, money(amount, currency)),
    held > 0n ? h('span', {}, `on hold ${money(held)}`) : [],
    // What was paid out and nobody owes yet is a debit.
    suspense === 0n
      ? []
      : h('span', {}, `in suspense ${money(suspense < 0n ? -suspense : suspense)}`),
  ];
}

const requestsOf = (requests) =>
  requests.map(({ id, kind, maker, status }) =>
    note('wait', `${kind} by ${maker} is ${status}: `, linked(id), '.'),
  );

const timelineOf = (timeline) =>
  table(
    'Timeline',
    [
      ['At', ({ at }) => time(at)],
      ['Type', ({ type }) => type],
      ['Actor', ({ actor }) => actor],
      ['Detail', ({ detail }) => linked(detail ?? '–')],
      ['Request at the provider', ({ provider_request_id: request }) => request ?? '–'],
      ['Internal', ({ internal }) => linked(internal ?? '–')],
    ],
    timeline,
  );

const postingsOf = (postings) =>
  table(
    'Postings',
    [
      ['At', ({ at }) => time(at)],
      ['Step', ({ id }) => id.slice(id.indexOf('/') + 1)],
      [
        'Legs',
        ({ legs }) =>
          legs.map(({ account, amount_minor: minor }) =>
            h('div', { class: 'leg' }, h('span', {}, linked(account)), h('span', {}, money(minor))),
          ),
      ],
    ],
    postings,
  );

/** The deliveries of webhooks. */
export const deliveriesOf = (deliveries, title = 'Webhooks') =>
  table(
    title,
    [
      ['Created', ({ created_at: at }) => time(at)],
      ['Delivery', ({ id }) => linked(id)],
      ['Event', ({ name, event }) => `${name} ${event}`],
      ['Record', ({ resource }) => linked(resource)],
      ['Status', ({ status, tries }) => `${status}, ${tries} tries`],
      ['Delivered', ({ delivered_at: at }) => time(at)],
    ],
    deliveries,
  );

const SHOWN_ABOVE = new Set(['record', 'card', 'break', 'delivery', 'timeline', 'acts', 'meaning']);

/** Any other list of an answer, such as the operations of a card. */
function furtherList(name, list) {
  const isList = Array.isArray(list) && typeof list[0] === 'object' && !SHOWN_ABOVE.has(name);
  if (!isList) return [];
  const columns = Object.keys(list[0]).map((column) => [
    column,
    (row) => shown(column, row[column]),
  ]);
  return table(name, columns, list);
}

const auditOf = (entries) =>
  table(
    'Acts of operators',
    [
      ['At', ({ at }) => time(at)],
      ['Who', ({ name }) => name],
      ['Act', ({ action }) => action],
      [
        'Reason',
        ({ reason, after }) => [
          reason ?? '–',
          after?.refused ? ` – refused: ${after.refused}` : '',
        ],
      ],
      ['Request', ({ approval }) => linked(approval ?? '–')],
    ],
    entries,
  );
