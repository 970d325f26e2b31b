import { randomUUID } from 'node:crypto';
import type { Audit } from '../core/audit/store.js';
import type { OperatorRole } from '../platform/operators/operator.js';
import type { Operators } from '../platform/operators/store.js';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

type Parts = { operators: Operators; audit: Audit };
type Made = { id: string; key: string };

/** Creates the first operator, an admin who may also do the daily work. Null if anybody can sign in already. */
export const createFirstOperator = (
  parts: Parts,
  person: { name: string; email: string },
): Promise<Made | null> =>
  createAtSetUp(parts, { ...person, roles: ['operator', 'admin'] }, (session) =>
    parts.operators.exist(session),
  );

/** Creates an operator at set-up, by whoever has the database. Null if `isPresent` says that the set-up is done. */
export function createAtSetUp(
  { operators, audit }: Parts,
  person: { name: string; email: string; roles: OperatorRole[] },
  isPresent: (session: Parameters<Parameters<Audit['act']>[1]>[0]) => Promise<boolean>,
): Promise<Made | null> {
  const act = {
    id: randomUUID(),
    actor: { operator: null, name: 'set-up', roles: [] },
    action: 'operators.create',
    target: person.email,
    tenantId: null,
    reason: 'set-up',
    requestId: null,
    approval: null,
  };
  return audit.act(act, async (session) => {
    if (await isPresent(session)) return null;
    const account = await operators.create({ ...person, createdBy: [] }, session);
    const newKey = { expiresAt: new Date(Date.now() + YEAR_MS), createdBy: [] };
    const { key } = await operators.createKey(account.id, newKey, session);
    const after = { id: account.id, name: person.name, roles: person.roles };
    return { result: { id: account.id, key }, before: null, after };
  });
}
