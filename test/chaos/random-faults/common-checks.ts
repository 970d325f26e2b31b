import { nameOf, type SentRequest } from './requests.js';
import type { ChaosCluster, ChaosTenant } from './cluster.js';

/** One resource in this many is requested with another tenant's key. */
const EVERY = 25;

/** `amount_minor` is null if the resource moves no money. */
export type Made = {
  _id: string;
  tenant_id: string;
  reference: string;
  amount_minor?: bigint | null;
  recipient?: { account: string };
};
/** A request without an amount covers the whole remaining amount, or moves no money. */
type RequestBody = { reference: string; amount_minor?: number; recipient_account?: string };

/**
 * Every 201 has exactly one resource, with the answered id and the requested fields. A refused request has none, and no
 * resource exists without a request. `reference` is the client's name for the resource.
 */
export function answersHold<Body extends RequestBody>(
  sent: readonly SentRequest<Body>[],
  made: readonly Made[],
): string[] {
  const byReference = new Map<string, Made[]>();
  for (const one of made) {
    const key = `${one.tenant_id}/${one.reference}`;
    byReference.set(key, [...(byReference.get(key) ?? []), one]);
  }
  const problems = sent.flatMap(({ of, body, answer }) => {
    if (!answer) return [`${body.reference} was never answered`];
    const found = byReference.get(`${of.tenant.id}/${body.reference}`) ?? [];
    if (answer.status !== 201) {
      return found.length === 0 ? [] : [`${body.reference} was refused, and is there`];
    }
    const [one] = found;
    if (!one || found.length > 1 || one._id !== answer.id) {
      return [`${body.reference} was accepted as ${answer.id}, and is there ${found.length} times`];
    }
    return isAsRequested(body, one) ? [] : [`${body.reference} is there as something else`];
  });
  const requestedKeys = new Set(sent.map(({ of, body }) => `${of.tenant.id}/${body.reference}`));
  const unrequested = made.filter(
    ({ tenant_id: tenantId, reference }) => !requestedKeys.has(`${tenantId}/${reference}`),
  );
  return [...problems, ...unrequested.map(({ _id }) => `${_id} is there, and was not requested`)];
}

const isAsRequested = (
  { amount_minor: minor, recipient_account: account }: RequestBody,
  one: Made,
) =>
  (minor === undefined || one.amount_minor === BigInt(minor)) &&
  (account === undefined || one.recipient?.account === account);

/** Paths of a kind of resource: one resource, its list, and requests with valid bodies. */
export type Doors = {
  one: (id: string) => string;
  list?: string;
  posts?: (id: string) => readonly (readonly [path: string, body?: object])[];
};

type Owned = { _id: string; tenant_id: string };

/** Another tenant's key can neither read nor change a resource, and its lists hold only its own resources. */
export async function isolated(
  cluster: ChaosCluster,
  made: readonly Owned[],
  doors: Doors,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [i, one] of made.entries()) {
    if (i % EVERY !== 0) continue;
    const others = cluster.tenants.filter(({ tenant }) => tenant.id !== one.tenant_id);
    problems.push(...(await refused(others[i % others.length] as ChaosTenant, one, doors)));
  }
  return [...problems, ...(await ownLists(cluster, made, doors))];
}

async function refused(
  { tenant: other }: ChaosTenant,
  { _id: id, tenant_id: tenantId }: Owned,
  { one, posts = () => [] }: Doors,
): Promise<string[]> {
  const found = await other.call('GET', one(id), undefined);
  const answers: [string, number][] = [[`GET ${one(id)}`, found.status]];
  for (const [path, body] of posts(id)) {
    const key = `foreign ${id} ${path}`.slice(0, 100);
    const sent = body && JSON.stringify(body);
    const { status } = await other.call('POST', path, sent, { key });
    answers.push([`POST ${path}`, status]);
  }
  return answers
    .filter(([, status]) => status !== 404)
    .map(([call, status]) => `${id} of ${tenantId}: ${call} by ${other.id} is answered ${status}`);
}

async function ownLists(
  { tenants }: ChaosCluster,
  made: readonly Owned[],
  { list }: Doors,
): Promise<string[]> {
  if (list === undefined) return [];
  const ownerOf = new Map(made.map(({ _id, tenant_id: tenantId }) => [_id, tenantId]));
  const problems: string[] = [];
  for (const { tenant } of tenants) {
    const { status, body } = await tenant.call('GET', `${list}?limit=100`, undefined);
    if (status !== 200) problems.push(`${list} of ${tenant.id} is answered ${status}`);
    const items = status === 200 ? (body.data as unknown as object[]) : [];
    const foreign = items.map(nameOf).filter((id) => ownerOf.get(id) !== tenant.id);
    problems.push(...foreign.map((id) => `${id} is in ${list} of ${tenant.id}`));
  }
  return problems;
}
