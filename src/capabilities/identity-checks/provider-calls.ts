import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import { aboutOf } from '../../core/instructions/instruction.js';
import { MAX_SUBMISSIONS } from '../../core/instructions/workflow-contract.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type {
  CheckState,
  CheckSubject,
  IdentityProvider,
} from '../../core/providers/identity-provider.js';
import { faultOf, type Rejected } from '../../core/providers/port.js';
import type { Providers } from '../../core/providers/registry.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import { DAY_MS } from '../../shared/durations.js';
import { subjectPlace, type IdentityCheck } from './record.js';

/** The calls of identity checks to their provider. */
export type IdentityCheckCalls = ReturnType<typeof createIdentityCheckCalls>;

/**
 * A check that was submitted as often as it may be, and that its provider does not know a day after the first submission, could
 * not be done. It ends, so that its number is not kept until an operator acts. No money depends on it.
 */
function isGivenUp(check: IdentityCheck, now: Date): boolean {
  const { submissions, rejected_submissions: rejected, first_submitted_at: first } = check;
  return (
    check.acknowledged_at === null &&
    submissions - rejected >= MAX_SUBMISSIONS &&
    first !== null &&
    now.getTime() - first.getTime() > DAY_MS
  );
}

/** Creates the calls. The subject of a check is opened for its request alone. */
export function createIdentityCheckCalls({
  providers,
  sealing,
  clock = () => new Date(),
}: {
  providers: Pick<Providers, 'identity'>;
  sealing: Pick<Sealing, 'open'>;
  clock?: () => Date;
}) {
  function subjectOf({ _id: id, sealed }: IdentityCheck): CheckSubject | null {
    const opened = sealed === null ? null : sealing.open(sealed, subjectPlace(id));
    return opened === null ? null : (JSON.parse(opened) as CheckSubject);
  }

  return {
    resendSafetyOf: ({ provider }: IdentityCheck) =>
      providers.identity(provider).identity.resendSafety,

    async submit(
      check: IdentityCheck,
      requestedAt: Date,
      signal: AbortSignal,
    ): Promise<ProviderOutcome> {
      const subject = subjectOf(check);
      // Without its key the subject can't be sent. Nothing was submitted; it is tried again, and an operator is called.
      if (subject === null) {
        return {
          kind: 'rejected_temporarily',
          code: 'sealed_key_missing',
          providerRequestId: null,
        };
      }
      const { _id: reference, customer, check_type: checkType } = check;
      const request = { reference, customer, checkType, subject, requestedAt };
      return outcomeOf(await providers.identity(check.provider).startCheck(request, signal));
    },

    async verify(check: IdentityCheck, signal: AbortSignal): Promise<ProviderOutcome> {
      const about = { ...aboutOf(check), acceptedAt: check.acknowledged_at };
      const answer = await providers.identity(check.provider).verifyCheck(about, signal);
      const { kind, providerRequestId } = answer;
      return kind === 'not_found' && isGivenUp(check, clock())
        ? { kind: 'rejected', code: 'not_checked', scope: 'instruction', providerRequestId }
        : outcomeOf(answer);
    },
  };
}

type Answer = Awaited<ReturnType<IdentityProvider['startCheck' | 'verifyCheck']>>;

function outcomeOf(answer: Answer): ProviderOutcome {
  const { providerRequestId } = answer;
  switch (answer.kind) {
    case 'verified':
      return { kind: 'succeeded', amountMinor: null, sessionId: null, providerRequestId };
    case 'rejected_temporarily':
      return { kind: answer.kind, code: answer.reason, providerRequestId, ...faultOf(answer) };
    default:
      return answer;
  }
}

/** The fact in a provider's report about a check; null if the report is not final. */
export function checkFactOf(
  state: CheckState | Rejected,
  source: FactSource,
): InstructionFact | null {
  switch (state.kind) {
    case 'verified':
      return { ...source, kind: 'succeeded', amountMinor: null, sessionId: null };
    case 'rejected':
      return { ...source, kind: 'rejected', code: state.code };
    case 'pending':
      return null;
  }
}
