import { randomUUID } from 'node:crypto';
import type { Act } from '../../../src/core/audit/entry.js';
import { createRefusals } from '../../../src/ops/operator-api/refusals.js';

const MINUTE_MS = 60_000;

const actOf = (operator: string): Act => ({
  id: randomUUID(),
  actor: { operator, name: operator, roles: ['viewer'] },
  action: 'getTenant',
  target: 'refused',
  tenantId: null,
  reason: null,
  requestId: null,
  approval: null,
});

test('an operator has ten entries a minute for refused requests, and the next one has the number of those without an entry', async () => {
  const written: [string | null, unknown][] = [];
  let now = 1_000_000;
  const record = (act: Act, { after }: { after?: unknown } = {}) => {
    written.push([act.actor.operator, after]);
    return Promise.resolve();
  };
  const refuse = createRefusals({ record }, () => now);
  for (let i = 0; i < 500; i += 1) await refuse(actOf('opr_ada'), 'expired_key');
  await refuse(actOf('opr_bayo'), 'forbidden');
  expect(written).toEqual([
    ...Array.from({ length: 10 }, () => ['opr_ada', { refused: 'expired_key' }]),
    ['opr_bayo', { refused: 'forbidden' }],
  ]);

  written.length = 0;
  now += MINUTE_MS;
  await refuse(actOf('opr_ada'), 'expired_key');
  await refuse(actOf('opr_ada'), 'expired_key');
  expect(written).toEqual([
    ['opr_ada', { refused: 'expired_key', unrecorded: 490 }],
    ['opr_ada', { refused: 'expired_key' }],
  ]);
});
