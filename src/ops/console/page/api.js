const TOKEN = 'bursar.operator';

/** The sign-in of this tab: kept until the tab is closed, and sent to the operator API alone. */
export const sign = {
  in: (token) => sessionStorage.setItem(TOKEN, token),
  out: () => sessionStorage.removeItem(TOKEN),
  isIn: () => sessionStorage.getItem(TOKEN) !== null,
};

const MAY_BE_DONE = 'An act may have been carried out: show the record before you repeat it.';

/** A call that the operator API refused, with its message. */
export class Refusal extends Error {
  constructor(status, { message = `The operator API answered ${status}.`, field } = {}) {
    super(field === undefined ? message : `${message} (${field})`);
    this.status = status;
  }
}

/** Calls the operator API. Returns the data of its answer, or throws a `Refusal`. */
export async function call(method, path, body) {
  const response = await fetch(`../operator/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${sessionStorage.getItem(TOKEN)}`,
      'content-type': 'application/json',
    },
    credentials: 'omit',
    cache: 'no-store',
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Refusal(0, { message: `The operator API does not answer. ${MAY_BE_DONE}` });
  });
  const answer = await response.json().catch(() => ({}));
  // A proxy's own answer has no message.
  const message = `The operator API answered ${response.status}. ${MAY_BE_DONE}`;
  const isUnclear = method !== 'GET' && response.status >= 500 && !answer.error;
  if (!response.ok) throw new Refusal(response.status, isUnclear ? { message } : answer.error);
  return answer.data;
}

/** Reads from the operator API. `query`: parameters, of which those without a value are left out. */
export function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given).toString();
  return call('GET', search === '' ? path : `${path}?${search}`);
}

let described = null;

/** The OpenAPI document of the operator API, which names every act, its fields and its roles. */
export async function openApi() {
  if (described) return described;
  const answer = await fetch('../openapi.json', { credentials: 'omit' });
  if (!answer.ok) throw new Refusal(answer.status);
  described = await answer.json();
  return described;
}
