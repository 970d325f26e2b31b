/**
 * Creates an element. A text becomes a text node, never HTML. Properties that begin with `on` are listeners; null and false are left
 * out.
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter(isShown));
  return element;
}

const isShown = (child) => child !== null && child !== undefined && child !== false;

/** A table with a title. Each column has a label and a function that makes the content of its cell. On a phone each row is a block. */
export function table(title, columns, rows) {
  const heading = h('h2', {}, `${title} (${rows.length})`);
  if (rows.length === 0) return h('section', {}, heading, h('p', { class: 'none' }, 'None.'));
  const head = h(
    'tr',
    {},
    columns.map(([label]) => h('th', { scope: 'col' }, label)),
  );
  const lines = rows.map((row) =>
    h(
      'tr',
      {},
      columns.map(([label, cell]) => h('td', { 'data-label': label }, cell(row))),
    ),
  );
  return h('section', {}, heading, h('table', {}, h('thead', {}, head), h('tbody', {}, lines)));
}

/** A labelled field. */
export const field = (label, input, help = null) =>
  h('label', {}, h('span', {}, label), input, help && h('small', {}, help));

/** A message that screen readers announce. `tone` is good, wait or bad. */
export const note = (tone, ...content) =>
  h('p', { class: `note ${tone}`, role: tone === 'bad' ? 'alert' : 'status' }, content);
