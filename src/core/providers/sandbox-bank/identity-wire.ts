import { z } from 'zod';
import { REJECTION_CODES, type CheckState, type RejectionCode } from '../identity-provider.js';
import type { Rejected } from '../port.js';
import { code } from './wire.js';

/** The bank's answer about a check. */
export const checkAnswer = z.object({
  reference: z.string().min(1).max(200),
  status: z.enum(['pending', 'verified', 'rejected', 'failed']),
  code,
});

/** Converts the bank's status of a check; null for a rejection with a code that is not known, which proves nothing. */
export function checkState(check: z.infer<typeof checkAnswer>): CheckState | Rejected | null {
  switch (check.status) {
    case 'pending':
    case 'verified':
      return { kind: check.status };
    case 'rejected':
      return isRejection(check.code) ? { kind: 'rejected', code: check.code } : null;
    case 'failed':
      return { kind: 'rejected', code: 'not_checked' };
  }
}

const isRejection = (theirs: string | null | undefined): theirs is RejectionCode =>
  REJECTION_CODES.some((ours) => ours === theirs);
