import type { JournalEffects } from '../shared/journal-effects.js';
import {
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';
import { checkBehaviour } from './behaviours.js';
import type { CheckRecord, CheckRequest, CheckResult } from './records.js';

/** An identity check as replayed from the journal. */
export type Check = NumberedRecord<CheckRequest, 'pending' | CheckResult>;

/** The bank's identity checks. */
export type IdentityState = ReturnType<typeof createIdentityState>;

/** Holds the identity checks. Only `apply` changes them, so a replay of the journal gives the same state. */
export function createIdentityState(effects: JournalEffects) {
  const checks = createNumberedRecords<Check>();
  const byReference = new Map<string, Check>();
  return {
    all: checks.all,
    get: checks.get,
    /** The newest one; more than one only if the bank does not de-duplicate. */
    withReference: (reference: string) => byReference.get(reference),
    apply(record: CheckRecord): void {
      if (record.kind === 'check_ordered') {
        const { check: number, order, at } = record;
        const behaviour = checkBehaviour(order);
        checks.add({ number, order, behaviour, status: 'pending', ...newRecordAt(at) });
        byReference.set(order.reference, checks.get(number));
        return;
      }
      const { check: number, seq, kind, result, code, at } = record;
      const check = checks.get(number);
      Object.assign(check, { status: result, code, updatedAt: at });
      const { reference, client_reference } = check.order;
      const nothing = { amount_minor: null, session_id: null, card: null };
      effects.add({
        seq,
        kind,
        reference,
        client_reference,
        currency: 'NGN',
        ...nothing,
        result,
        at,
      });
    },
  };
}
