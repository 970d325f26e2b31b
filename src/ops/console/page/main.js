import { call, sign } from './api.js';
import { h, note } from './dom.js';
import { inboxScreen } from './inbox.js';
import { recordScreen } from './record.js';
import { addressOfText, searchScreen } from './search.js';
import { signInScreen } from './sign-in.js';
import { tenantScreen } from './tenant.js';

const [screen, nav, person] = ['screen', 'nav', 'person'].map((id) => document.getElementById(id));
const SCREENS = { inbox: 'Inbox', search: 'Search' };
let me = null;
/** Counts the screens, so that a slow answer for an earlier one is not shown. */
let shownLast = 0;

/** Shows the screen of the address. The part behind # never leaves the browser. */
async function show(said) {
  const turn = (shownLast += 1);
  const [path, search = ''] = location.hash.replace(/^#\//, '').split('?');
  try {
    const [name, id = ''] = path.split('/').map(decodeURIComponent);
    if (!sign.isIn()) return showSignIn();
    me ??= await call('GET', '/me');
    showBar(name);
    const content = await contentOf(
      name,
      id,
      Object.fromEntries(new URLSearchParams(search)),
      said,
    );
    if (turn === shownLast) replace(content);
  } catch (error) {
    if (turn !== shownLast) return;
    if (error.status === 401) showSignIn(error.message);
    // The message of an act stays: without it the act would be repeated.
    else replace([h('h1', {}, 'Bursar'), said, note('bad', error.message)]);
  }
}

async function contentOf(name, id, query, said) {
  const reload = (message) => show(message);
  if (name === 'records') return recordScreen({ id, me, said, reload });
  if (name === 'tenants') return tenantScreen({ id, me, said, reload });
  if (name !== 'search') return inboxScreen();
  const address = addressOfText(query.text ?? '');
  if (address === null) return searchScreen(query);
  location.replace(address);
  return [];
}

function replace(content) {
  const kept = [content].flat(Infinity).filter((each) => each instanceof Node);
  screen.replaceChildren(...kept);
  document.title = `${screen.querySelector('h1')?.textContent ?? ''} – Bursar console`;
  screen.focus();
}

function showBar(name) {
  const link = ([key, label]) =>
    h('a', { href: `#/${key}`, 'aria-current': key === (name || 'inbox') ? 'page' : null }, label);
  nav.replaceChildren(
    ...Object.entries(SCREENS).map(link),
    h('button', { type: 'button', onclick: () => show() }, 'Refresh'),
  );
  person.replaceChildren(
    `${me.name} (${me.roles.join(', ')}) `,
    h('button', { type: 'button', onclick: signOut }, 'Sign out'),
  );
}

function signOut() {
  sign.out();
  showSignIn();
}

function showSignIn(refusal = null) {
  // Answers that are on their way are not shown any more.
  shownLast += 1;
  document.querySelector('dialog')?.remove();
  sign.out();
  me = null;
  nav.replaceChildren();
  person.replaceChildren();
  replace(
    signInScreen({
      refusal,
      onSignedIn: (found) => {
        me = found;
        return show();
      },
    }),
  );
  screen.querySelector('input').focus();
}

addEventListener('hashchange', () => void show());
await show();
