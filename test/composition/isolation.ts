import { pathWith, type Documented } from '../support/documented.js';

/** The parts of an answer that the checks read. */
export type Answer = { status: number; headers: Headers; text: string };

/** Sends one request; every check here is made of such requests. */
export type Send = (request: {
  operation: Documented;
  /** The path with its parameters filled in. */
  path: string;
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}) => Promise<Answer>;

/**
 * A tenant with its key, the id of its record for each resource of the document, and the texts that no other tenant may
 * see.
 */
export type Party = { tenant: string; key: string; ids: Record<string, string>; own: string[] };

const idOf = (party: Party) => (resource: string) => party.ids[resource] ?? '';

const codeOf = ({ text }: Answer): string | undefined =>
  (JSON.parse(text) as { error?: { code: string } }).error?.code;

const summarize = ({ status, text }: Answer) => `${status} ${text.slice(0, 200)}`;

/** The texts of the owner that the answer contains. */
const leaksOf = (owner: Party, { text }: Answer) => owner.own.filter((mark) => text.includes(mark));

/**
 * Checks that the owner reaches a resource, and that another tenant with one or all of the owner's ids gets 404 and
 * learns nothing.
 */
export async function findForeignAccess(
  send: Send,
  operation: Documented,
  owner: Party,
  other: Party,
): Promise<string[]> {
  const { body, resources } = operation;
  const problems: string[] = [];
  const callWith = (key: string, ids: (resource: string) => string) =>
    send({ operation, path: pathWith(operation, ids), key, body });
  const own = await callWith(owner.key, idOf(owner));
  if (own.status === 404) problems.push(`the owner finds nothing: ${summarize(own)}`);
  for (const foreign of [resources, ...resources.map((resource) => [resource])]) {
    const ids = (resource: string) => idOf(foreign.includes(resource) ? owner : other)(resource);
    const answer = await callWith(other.key, ids);
    const where = `with another tenant's ${foreign.join(' and ')}`;
    if (answer.status !== 404) problems.push(`${where}: ${summarize(answer)}`);
    for (const mark of leaksOf(owner, answer)) problems.push(`${where} it shows ${mark}`);
  }
  return problems;
}

/** Checks that a tenant's list contains nothing of another tenant. */
export async function findForeignInList(
  send: Send,
  operation: Documented,
  owner: Party,
  other: Party,
): Promise<string[]> {
  const answer = await send({ operation, path: pathWith(operation, idOf(other)), key: other.key });
  const leaks = leaksOf(owner, answer).map((mark) => `it lists ${mark} of another tenant`);
  return answer.status === operation.status ? leaks : [...leaks, `no list: ${summarize(answer)}`];
}

const LEVELS = ['read', 'write', 'admin'] as const;

/** A key of each level, and a public key. */
export type Keys = Record<(typeof LEVELS)[number] | 'public', string>;

/** Checks that each key may do what the document says, and nothing else. */
export async function findWrongAuthority(
  send: Send,
  operation: Documented,
  { keys, bad, ids }: { keys: Keys; bad: Record<string, string | undefined>; ids: Party['ids'] },
): Promise<string[]> {
  const { level, takesPublicKeys, body } = operation;
  const path = pathWith(operation, (resource) => ids[resource] ?? '');
  const problems: string[] = [];
  const expectCode = (name: string, answer: Answer, code: string) => {
    if (codeOf(answer) !== code) problems.push(`${name}: ${summarize(answer)} in place of ${code}`);
  };
  for (const [code, key] of Object.entries(bad)) {
    const answer = await send({ operation, path, body, ...(key !== undefined && { key }) });
    expectCode(`a bad key`, answer, level === null ? 'invalid_signature' : code);
  }
  for (const [name, key] of Object.entries(keys)) {
    // A public key may not name a reference.
    const theirs = name === 'public' && body ? { ...body, reference: undefined } : body;
    const answer = await send({ operation, path, body: theirs, key });
    const may =
      name === 'public'
        ? takesPublicKeys
        : level !== null && LEVELS.indexOf(name as 'read') >= LEVELS.indexOf(level);
    if (level === null) expectCode(`a ${name} key`, answer, 'invalid_signature');
    else if (!may) expectCode(`a ${name} key`, answer, 'forbidden');
    // A repeated change may be refused because of the record's state, but not because of the key.
    else if (![operation.status, 422].includes(answer.status)) {
      problems.push(`a ${name} key: ${summarize(answer)}`);
    }
  }
  return problems;
}

/** Checks that a key with one scope reaches an operation of this scope alone. `scoped` has a key for each scope. */
export async function findWrongScope(
  send: Send,
  operation: Documented,
  { scoped, ids }: { scoped: Record<string, string>; ids: Party['ids'] },
): Promise<string[]> {
  const path = pathWith(operation, (resource) => ids[resource] ?? '');
  const problems: string[] = [];
  for (const [scope, key] of Object.entries(scoped)) {
    const answer = await send({ operation, path, key, body: operation.body });
    const isRefused = codeOf(answer) === 'forbidden';
    if (isRefused === (scope === operation.scope)) {
      problems.push(`a key for ${scope}: ${summarize(answer)}`);
    }
  }
  return problems;
}

/** Checks that an idempotency key counts within its tenant only. */
export async function findSharedKey(
  send: Send,
  operation: Documented,
  owner: Party,
  other: Party,
): Promise<string[]> {
  const { id, body, resources } = operation;
  const headers = { 'idempotency-key': `the same key for all tenants, of ${id}` };
  const post = async (party: Party) =>
    send({ operation, path: pathWith(operation, idOf(party)), key: party.key, body, headers });
  const first = await post(owner);
  const foreign = await post(other);
  const again = await post(owner);
  const problems: string[] = [];
  if (foreign.status !== first.status || foreign.headers.has('idempotent-replayed')) {
    problems.push(`another tenant's key counted: ${summarize(foreign)}`);
  }
  // A refusal contains no data, and an enquiry that names no resource has no data of a tenant: both may be the same.
  const isOwn = first.status === 201 || (first.status < 300 && resources.length > 0);
  if (isOwn && foreign.text === first.text) {
    problems.push('both tenants got the same answer');
  }
  if (again.text !== first.text || !again.headers.has('idempotent-replayed')) {
    problems.push(`its own key did not count: ${summarize(again)}`);
  }
  return problems;
}
