import type { Break } from '../../../src/core/reconciliation/break.js';
import { explainBreak } from '../../../src/ops/operator-api/break-explanations.js';
import { withEmptyParts } from '../../support/parts.js';

const explained = (capability: string, reference: string, kind: Break['kind']) =>
  explainBreak(
    withEmptyParts<Break>({
      _id: 'brk_1',
      kind,
      capability,
      reference,
      source: 'record',
      tenant_id: 'ten_1',
    }),
  );

const KINDS = ['missing_there', 'other_amount', 'other_state'] as const;

test.each(KINDS)('the acts of a break %s of a card payment are commands that it has', (kind) => {
  const { acts } = explained('card-authorizations', 'aut_1', kind);
  expect(acts).toContain('bursar card-authorizations show aut_1');
  expect(acts[0]).not.toMatch(/complete|fail|accepting/);
});

test.each(['missing_there', 'other_state'] as const)(
  'a break %s of the state of a card speaks of no movement, and of commands that cards have',
  (kind) => {
    const { meaning, acts } = explained('card-states', 'crd_1', kind);
    expect(acts).toContain('bursar cards show crd_1');
    expect([meaning, acts[0]].join(' ')).not.toMatch(/moved|complete|fail|accepting/);
  },
);

test.each(['missing_there', 'other_state'] as const)(
  'a break %s of a virtual account speaks of no money, and of no act that moves any',
  (kind) => {
    const { meaning, acts } = explained('virtual-accounts', 'va_1', kind);
    expect(acts).toContain('bursar virtual-accounts show va_1');
    expect([meaning, acts[0]].join(' ')).not.toMatch(/money|complete|fail|accepting/);
  },
);
