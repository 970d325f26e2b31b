import type { Break } from '../../../src/core/reconciliation/break.js';
import { explainBreak } from '../../../src/ops/operator-api/break-explanations.js';
import { withEmptyParts } from '../../support/parts.js';

const KINDS = ['missing_there', 'other_amount', 'other_state'] as const;

test.each(KINDS)('the acts of a break %s of a card payment are commands that it has', (kind) => {
  const found = {
    _id: 'brk_1',
    kind,
    capability: 'card-authorizations',
    reference: 'aut_1',
    source: 'record',
    tenant_id: 'ten_1',
  } as const;
  const { acts } = explainBreak(withEmptyParts<Break>(found));
  expect(acts).toContain('bursar card-authorizations show aut_1');
  expect(acts[0]).not.toMatch(/complete|fail|accepting/);
});
