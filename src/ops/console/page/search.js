import { read } from './api.js';
import { field, h, note, table } from './dom.js';
import { linked, money, time } from './format.js';
import { addressOf } from './kinds.js';

const OWN_ID = /^[a-z]{2,3}_[0-7][0-9a-hjkmnp-tv-z]{25}(?:-\d{1,4})?$/;

/** Finds a record by its id, a reference of a tenant or the id of a request, and a tenant by its name. */
export async function searchScreen({ text = '', tenant = '' }) {
  const tenants = await read('/tenants');
  const words = h('input', { type: 'search', required: true, value: text, autocomplete: 'off' });
  const owner = h(
    'select',
    {},
    h('option', { value: '' }, 'all tenants'),
    tenants.map(({ id, name }) =>
      h('option', { value: id, selected: id === tenant }, `${name} ${id}`),
    ),
  );
  const form = h(
    'form',
    {
      class: 'search',
      onsubmit: (event) => {
        event.preventDefault();
        const query = new URLSearchParams({ text: words.value.trim(), tenant: owner.value });
        location.hash = `#/search?${query}`;
      },
    },
    field('Id, reference, request id, or name of a tenant', words),
    field('Tenant of the reference', owner),
    h('button', { type: 'submit', class: 'main' }, 'Search'),
  );
  return [h('h1', {}, 'Search'), form, text === '' ? [] : await found(text, tenant, tenants)];
}

/** The address of an id that has a screen; a search for it leads there. */
export function addressOfText(text) {
  // An attempt at a charge has its number behind the id.
  return OWN_ID.test(text) ? addressOf(text.replace(/-\d+$/, '')) : null;
}

async function found(text, tenant, tenants) {
  const isRequest = text.startsWith('req_') && OWN_ID.test(text);
  const records = await read(
    '/records',
    isRequest ? { request: text } : { reference: text, tenant },
  );
  const named = tenants.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return [
    table(
      'Records',
      [
        ['Record', ({ id }) => linked(id)],
        ['Reference', ({ reference }) => reference ?? '–'],
        ['Tenant', ({ tenant: of }) => linked(of)],
        ['Status', ({ status }) => status ?? '–'],
        ['Amount', ({ amount_minor: amount }) => money(amount)],
        ['Created', ({ created_at: at }) => time(at)],
      ],
      records,
    ),
    named.length > 0 &&
      table(
        'Tenants',
        [
          ['Name', ({ name }) => name],
          ['Tenant', ({ id }) => linked(id)],
          ['Plan', ({ plan }) => plan],
        ],
        named,
      ),
    records.length === 0 &&
      note(
        'wait',
        'A reference is compared as a whole. A request is found by an id that Bursar gave it (req_…): search the logs for an id that ' +
          'its caller chose.',
      ),
  ];
}
