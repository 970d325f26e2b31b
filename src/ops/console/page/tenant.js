import { actButtons, actsOn } from './acts.js';
import { read } from './api.js';
import { h, note, table } from './dom.js';
import { fields, money, time } from './format.js';
import { deliveriesOf } from './record.js';

/** A tenant: balance, limits, keys without their secrets, endpoints, and deliveries that were given up. */
export async function tenantScreen({ id, me, said = null, reload }) {
  const [tenant, wallet, keys, endpoints, dead, acts] = await Promise.all([
    read(`/tenants/${encodeURIComponent(id)}`),
    read(`/wallets/${encodeURIComponent(id)}`),
    read('/keys', { tenant: id }),
    read('/webhooks/endpoints', { tenant: id }),
    read('/webhooks/deliveries', { tenant: id, dead: true }),
    actsOn('/tenants', id),
  ]);
  return [
    h('h1', {}, tenant.name, ' ', h('code', {}, id)),
    h(
      'p',
      { class: 'facts' },
      h('strong', { class: 'state' }, tenant.frozen_at ? 'frozen' : 'active'),
      h('span', {}, `available ${money(wallet.available_minor)}`),
      h('span', {}, `on hold ${money(wallet.held_minor)}`),
      h('span', {}, `owes ${money(wallet.receivable_minor)}`),
    ),
    said,
    tenant.frozen_at && note('bad', 'Frozen: nothing new is accepted.'),
    actButtons(
      acts.filter(({ name }) => name === (tenant.frozen_at ? 'unfreeze' : 'freeze')),
      { roles: me.roles, id, onDone: reload },
    ),
    h('h2', {}, 'Limits and settings'),
    fields(tenant),
    keysOf(keys),
    await endpointsOf(endpoints, { me, reload }),
    deliveriesOf(dead, 'Deliveries that were given up'),
  ];
}

const keysOf = (keys) =>
  table(
    'Keys',
    [
      ['Key', ({ id, label }) => (label ? `${id} ${label}` : id)],
      [
        'Kind',
        ({ kind, level, scopes }) => `${kind}, ${level}${scopes ? `: ${scopes.join(', ')}` : ''}`,
      ],
      ['Addresses', ({ allowed_ips: addresses }) => addresses?.join(', ') || 'any'],
      ['Last used', ({ last_used_at: at }) => time(at)],
      ['Expires', ({ expires_at: at }) => time(at)],
      ['Revoked', ({ revoked_at: at }) => time(at)],
    ],
    keys,
  );

/** The endpoints, each with the acts that show no secret. */
async function endpointsOf(endpoints, { me, reload }) {
  const rows = await Promise.all(
    endpoints.map(async (endpoint) => {
      const acts = await actsOn('/webhooks/endpoints', endpoint.id);
      const safe = acts.filter(({ name }) => ['disable', 'resume', 'ping'].includes(name));
      return { ...endpoint, acts: safe };
    }),
  );
  return table(
    'Webhook endpoints',
    [
      ['Endpoint', ({ id, url }) => [h('div', {}, url), h('small', {}, id)]],
      ['Events', ({ events }) => events?.join(', ') ?? 'all'],
      ['Status', ({ status }) => status],
      ['Failing since', ({ failing_since: at }) => time(at)],
      ['Acts', ({ id, acts }) => actButtons(acts, { roles: me.roles, id, onDone: reload })],
    ],
    rows,
  );
}
