import { call, openApi } from './api.js';
import { field, h, note } from './dom.js';
import { linked, money } from './format.js';

/** The commands of an instruction share one body. These fields of it do not belong to the command. */
const HIDDEN_OF = {
  verify: ['session_id', 'amount_minor', 'attempt', 'force', 'absent'],
  retry: ['session_id', 'amount_minor', 'attempt', 'force'],
  complete: ['absent'],
  fail: ['session_id', 'amount_minor', 'attempt', 'absent'],
};
/** Charges alone have attempts. */
const hiddenOf = (act, path) => [
  ...(HIDDEN_OF[act] ?? []),
  ...(path === '/charges' ? [] : ['attempt']),
];

/**
 * The acts of the operator API on a resource: each POST below its path, from the OpenAPI document, so that there is no second list of
 * acts, fields and roles.
 */
export async function actsOn(path, id) {
  const below = `/operator/v1${path}/{id}/`;
  const { paths } = await openApi();
  return Object.entries(paths).flatMap(([at, { post }]) => {
    const rest = at.startsWith(below) ? at.slice(below.length) : '/';
    if (!post || rest.includes('/')) return [];
    const { schema } = post.parameters?.find(({ name }) => `{${name}}` === rest) ?? {};
    const names = schema ? schema.enum : [rest];
    const { operatorKey: roles } = post.security[0];
    const body = post.requestBody?.content['application/json'].schema ?? {};
    const target = `${path}/${encodeURIComponent(id)}`;
    return names.map((name) => ({
      name,
      roles,
      summary: post.summary,
      path: `${target}/${name}`,
      inputs: inputsOf(body, hiddenOf(name, path)),
    }));
  });
}

/** The fields of an act: name, type and help. */
function inputsOf({ properties = {}, required = [] }, hidden) {
  const names = Object.keys(properties).filter((name) => !hidden.includes(name));
  return names.map((name) => ({
    name,
    ...properties[name],
    // The audit log keeps the reason: nobody acts without one here.
    required: name === 'reason' || required.includes(name),
  }));
}

/**
 * The buttons of the acts that the roles of this operator permit, with a sentence about the others. `onDone` gets the message of the
 * act that was carried out.
 */
export function actButtons(acts, { roles, id, onDone }) {
  const isPermitted = (act) => act.roles.some((role) => roles.includes(role));
  const [mine, others] = [acts.filter(isPermitted), acts.filter((act) => !isPermitted(act))];
  const needed = [...new Set(others.flatMap((act) => act.roles))];
  return h(
    'div',
    { class: 'acts' },
    mine.map((act) =>
      h('button', { type: 'button', onclick: () => open(act, id, onDone) }, act.name),
    ),
    others.length > 0 &&
      h(
        'p',
        {},
        `Not with your roles: ${others.map(({ name }) => name).join(', ')}. Roles for this: ${needed.join(', ')}.`,
      ),
  );
}

/** Asks for the fields of an act, and carries it out. */
function open(act, id, onDone) {
  const inputs = act.inputs.map((each) => ({ ...each, ...controlOf(each) }));
  const refused = h('div');
  const submit = h('button', { type: 'submit', class: 'main' }, act.name);
  const cancel = h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel');
  // An act that is on its way is carried out: the dialog stays until its answer.
  const setSending = (isSending) => {
    for (const button of [submit, cancel]) button.disabled = isSending;
  };
  const dialog = h(
    'dialog',
    {
      'aria-labelledby': 'act',
      onclose: () => dialog.remove(),
      oncancel: (event) => submit.disabled && event.preventDefault(),
    },
    h(
      'form',
      {
        onsubmit: async (event) => {
          event.preventDefault();
          setSending(true);
          const filled = inputs.map(({ name, value }) => [name, value()]);
          const body = Object.fromEntries(filled.filter(([, value]) => value !== undefined));
          try {
            const answer = await call('POST', act.path, body);
            dialog.close();
            onDone(answerOf(act, id, answer));
          } catch (error) {
            refused.replaceChildren(note('bad', error.message));
            setSending(false);
          }
        },
      },
      h('h2', { id: 'act' }, `${act.name} ${id}`),
      h('p', {}, `${act.summary}.`),
      inputs.map(({ label, control, description }) => field(label, control, description)),
      refused,
      h('div', { class: 'acts' }, submit, cancel),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** The message of an answer. What waits for a second person is not done yet. */
function answerOf(act, id, { done = true, message = `Done: ${act.name} ${id}.` } = {}) {
  return note(done ? 'good' : 'wait', linked(message));
}

/** The control of a field, and a function that reads it; undefined is left out of the body. */
function controlOf({ name, type, enum: choices, required, maxLength = null }) {
  const label = name.replaceAll('_', ' ');
  if (type === 'boolean') {
    const control = h('input', { type: 'checkbox', name });
    return { label, control, value: () => control.checked };
  }
  if (choices) {
    const options = choices.map((each) => h('option', { value: each }, each));
    const control = h(
      'select',
      { name, required },
      required ? [] : h('option', { value: '' }),
      options,
    );
    return { label, control, value: () => control.value || undefined };
  }
  if (type === 'integer') {
    const isMoney = name.endsWith('_minor');
    const inNaira = h('output');
    const control = h('input', {
      name,
      required,
      inputmode: 'numeric',
      pattern: '[0-9]+',
      title: 'a whole number',
      oninput: () =>
        isMoney && inNaira.replaceChildren(/^\d+$/.test(control.value) ? money(control.value) : ''),
    });
    const value = () => (control.value === '' ? undefined : Number(control.value));
    return {
      label: isMoney ? 'amount in kobo' : label,
      control: h('span', {}, control, inNaira),
      value,
    };
  }
  const control = h('input', { name, required, maxlength: maxLength, autocomplete: 'off' });
  return { label, control, value: () => control.value.trim() || undefined };
}
