import { aboutOf } from '../../core/instructions/instruction.js';
import type { About } from '../../core/providers/port.js';
import type { CardOperation } from '../cards/card-operation.js';
import type { CardParts } from '../cards/index.js';

/** A funding, or the one that a fund reversal is about, as its issuer is asked about it: the id that it has is on the funding. */
export async function aboutFunding(
  operations: Pick<CardParts['operations'], 'get'>,
  operation: CardOperation,
): Promise<About> {
  const { tenant_id: tenantId, reverses_operation_id: reversed } = operation;
  if (reversed === null) return aboutOf(operation);
  const funding = await operations.get(tenantId, reversed);
  return funding ? aboutOf(funding) : { reference: reversed, handle: null };
}
