import type { Asked } from './asking.js';
import type { StormStage, StormTenant } from './stage.js';

/** Resources of which one in so many is asked for by another tenant. */
const EVERY = 25;

export type Made = { _id: string; tenant: string; reference: string };

/**
 * Every 201 is there once, under the id that was answered; what was refused is not there, and nothing is there that
 * nobody asked for. `reference` is what the client named it by.
 */
export function answersHold<Body extends { reference: string }>(
  asked: readonly Asked<Body>[],
  made: readonly Made[],
): string[] {
  const byReference = new Map<string, Made[]>();
  for (const one of made) {
    const key = `${one.tenant}/${one.reference}`;
    byReference.set(key, [...(byReference.get(key) ?? []), one]);
  }
  const problems = asked.flatMap(({ of, body, answer }) => {
    if (!answer) return [`${body.reference} was never answered`];
    const found = byReference.get(`${of.tenant.id}/${body.reference}`) ?? [];
    if (answer.status !== 201) {
      return found.length === 0 ? [] : [`${body.reference} was refused, and is there`];
    }
    return found.length === 1 && found[0]?._id === answer.id
      ? []
      : [`${body.reference} was accepted as ${answer.id}, and is there ${found.length} times`];
  });
  const accepted = asked.filter(({ answer }) => answer?.status === 201).length;
  if (accepted !== made.length) problems.push(`${accepted} accepted, ${made.length} are there`);
  return problems;
}

/** Another tenant's key finds nothing. */
export async function isolated(
  { tenants }: StormStage,
  made: readonly { _id: string; tenant: string }[],
  path: (id: string) => string,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [i, { _id, tenant }] of made.entries()) {
    if (i % EVERY !== 0) continue;
    const others = tenants.filter((each) => each.tenant.id !== tenant);
    const other = others[i % others.length] as StormTenant;
    const { status } = await other.tenant.call('GET', path(_id), undefined);
    if (status !== 404) problems.push(`${_id} is shown to another tenant: ${status}`);
  }
  return problems;
}
