import type { InitiateAnswer, TransferProvider, VerifyAnswer } from '../src/providers/provider.js';
import type { FactOrigin, TransferFact } from '../src/transfers/facts.js';
import type { CallReport, FactReport, Sends } from '../src/transfers/reports.js';
import type { Transfer } from '../src/transfers/transfer.js';

/** What ends a transfer; everything else leaves it open. */
export const isFinal = (answer: InitiateAnswer | VerifyAnswer): boolean =>
  answer.kind === 'paid' || answer.kind === 'refused' || answer.kind === 'reversed';

/** Whether a report ends the transfer, or stands against what is booked. */
export const isFact = (report: CallReport): report is FactReport => 'via' in report;

export const sendsOf = ({ sends, not_taken: notTaken }: Transfer): Sends => ({
  sends,
  tries: sends - notTaken,
});

/** Amounts cross Temporal as integers: its payloads are JSON. */
const wireAmount = (amountMinor: bigint | null) =>
  amountMinor === null ? null : Number(amountMinor);

/** A provider's answer in the terms that may enter a history. */
export function toReport(
  answer: InitiateAnswer | VerifyAnswer,
  via: FactReport['via'],
  { capabilities }: TransferProvider,
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
    case 'throttled':
      // This one was explicitly not taken.
      return {
        kind: 'throttled',
        retryAfterMs: answer.retryAfterMs,
        ...sends,
        tries: sends.tries - 1,
      };
    case 'not_found':
      return { kind: 'not_found', absence: capabilities.absence, ...sends };
    case 'unknown':
      return { kind: 'unknown', reason: answer.reason, ...sends };
  }
}

export function toFact(report: FactReport, origin: FactOrigin): TransferFact {
  switch (report.kind) {
    case 'refused':
      return { ...origin, kind: 'refused', code: report.code };
    case 'no_such_account':
    case 'confirmed':
      return { ...origin, kind: report.kind };
    case 'paid':
    case 'reversed': {
      const amountMinor = report.amountMinor === null ? null : BigInt(report.amountMinor);
      return { ...origin, kind: report.kind, amountMinor, sessionId: report.sessionId };
    }
  }
}
