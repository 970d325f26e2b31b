import type { Act } from '../../core/audit/entry.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { aboutOf } from '../../core/instructions/instruction.js';
import type { CardIssuer } from '../../core/providers/card-issuer.js';
import { ProviderNotConfigured } from '../../core/providers/not-configured.js';
import { bookedMinor, type Funding } from '../cards/card-operation.js';
import { everGivenMinor } from './transitions.js';

/**
 * The issuer's word about a completed unloading that it was said to have taken back: the fact that it has, in part or as a whole; null
 * if it has given back what is booked. `undecided`: it says neither, and nothing may be booked.
 */
type Said =
  { kind: 'decided'; fact: InstructionFact | null } | { kind: 'undecided'; reason: string };

/** Asks the issuer now how much of an unloading it has taken back. Changes nothing. */
export async function askAboutDoubted(
  providers: { issuer(name: string): CardIssuer },
  operation: Funding,
  { actor, reason: note, act }: { actor: string; reason: string; act?: Act },
): Promise<Said> {
  const answer = await findUnload(providers, operation);
  if (answer === null)
    return {
      kind: 'undecided',
      reason: 'Its issuer is not configured, or cannot be asked about an unloading.',
    };
  const { kind, providerRequestId } = answer;
  if (kind !== 'unloaded' && kind !== 'reversed') {
    const reason = `Not done: the issuer does not say now what became of ${operation._id} (${kind}).`;
    return { kind: 'undecided', reason };
  }
  const everGiven = everGivenMinor(operation);
  const { taken_back_minor: bookedBack = 0n } = operation;
  const { amountMinor } = answer;
  const takenBack =
    kind === 'reversed'
      ? (amountMinor ?? everGiven)
      : everGiven - (amountMinor ?? bookedMinor(operation));
  if (takenBack === bookedBack) return { kind: 'decided', fact: null };
  if (takenBack < bookedBack || takenBack > everGiven) {
    const reason = `Not done: the issuer reports another amount of ${operation._id} (${kind}, ${amountMinor}).`;
    return { kind: 'undecided', reason };
  }
  const source = { via: 'operator', actor, note, providerRequestId, ...(act && { act }) } as const;
  const fact = { ...source, kind: 'reversed', amountMinor: takenBack, sessionId: null } as const;
  return { kind: 'decided', fact };
}

/** The answer to the query; null if there is no such issuer any more, or if it has no such query. */
async function findUnload(providers: { issuer(name: string): CardIssuer }, operation: Funding) {
  try {
    const { signal } = new AbortController();
    const issuer = providers.issuer(operation.provider);
    return (await issuer.findUnload?.(aboutOf(operation), signal)) ?? null;
  } catch (error) {
    if (error instanceof ProviderNotConfigured) return null;
    throw error;
  }
}
