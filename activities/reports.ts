import type { Absence } from '../src/providers/provider.js';
import type { FactOrigin, PursuitFact } from '../src/pursuits/facts.js';
import type { Heard } from '../src/pursuits/heard.js';
import type { PursuedRecord } from '../src/pursuits/record.js';
import type { CallReport, FactReport, Sends } from '../src/pursuits/reports.js';

/** The provider says itself that it took nothing. */
export const isNotTaken = ({ kind }: Heard): boolean =>
  kind === 'throttled' || kind === 'refused_for_now';

/** What ends a record; everything else leaves it open. */
export const isFinal = (answer: Heard): boolean =>
  answer.kind === 'paid' || answer.kind === 'refused' || answer.kind === 'reversed';

/** Whether a report ends the record, or stands against what is booked. */
export const isFact = (report: CallReport): report is FactReport => 'via' in report;

export const sendsOf = ({ sends, not_taken: notTaken }: PursuedRecord): Sends => ({
  sends,
  tries: sends - notTaken,
});

/** Amounts cross Temporal as integers: its payloads are JSON. */
const wireAmount = (amountMinor: bigint | null) =>
  amountMinor === null ? null : Number(amountMinor);

/** A provider's answer in the terms that may enter a history. `absence`: what its "not found" proves. */
export function toReport(
  answer: Heard,
  via: FactReport['via'],
  absence: Absence,
  sends: Sends,
): CallReport {
  const { providerRequestId } = answer;
  switch (answer.kind) {
    case 'paid':
    case 'reversed': {
      const { kind, sessionId } = answer;
      const amountMinor = wireAmount(answer.amountMinor);
      return { kind, sessionId, amountMinor, providerRequestId, via };
    }
    case 'refused':
      return { kind: 'refused', code: answer.code, providerRequestId, via };
    case 'pending':
      return { kind: 'pending' };
    // These were explicitly not taken.
    case 'throttled': {
      const { kind, retryAfterMs } = answer;
      return { kind, retryAfterMs, ...sends, tries: sends.tries - 1 };
    }
    case 'refused_for_now':
      return { kind: answer.kind, code: answer.code, ...sends, tries: sends.tries - 1 };
    case 'not_found':
      return { kind: 'not_found', absence, ...sends };
    case 'unknown':
      return { kind: 'unknown', reason: answer.reason, ...sends };
  }
}

export function toFact(report: FactReport, origin: FactOrigin): PursuitFact {
  switch (report.kind) {
    case 'refused':
      return {
        ...origin,
        kind: 'refused',
        code: report.code,
        ...(report.ifUnsent && { ifUnsent: true }),
      };
    case 'confirmed':
      return { ...origin, kind: 'confirmed' };
    case 'paid':
    case 'reversed': {
      const amountMinor = report.amountMinor === null ? null : BigInt(report.amountMinor);
      return { ...origin, kind: report.kind, amountMinor, sessionId: report.sessionId };
    }
  }
}
