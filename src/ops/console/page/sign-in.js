import { call, sign } from './api.js';
import { field, h, note } from './dom.js';

/** The sign-in. `refusal` is the reason why an earlier one ended. */
export function signInScreen({ refusal = null, onSignedIn }) {
  const token = h('input', {
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const refused = h('div', {}, refusal && note('bad', refusal));
  return h(
    'form',
    {
      class: 'sign-in',
      onsubmit: async (event) => {
        event.preventDefault();
        sign.in(token.value.trim());
        try {
          onSignedIn(await call('GET', '/me'));
        } catch (error) {
          sign.out();
          refused.replaceChildren(note('bad', error.message));
        }
      },
    },
    h('h1', {}, 'Sign in'),
    field(
      'Operator key or ID token',
      token,
      'A key (op_…), or, where operators sign in at an issuer, the ID token that `bursar sign-in --token` prints. It stays in this ' +
        'tab, and ends with it.',
    ),
    refused,
    h('button', { type: 'submit', class: 'main' }, 'Sign in'),
  );
}
