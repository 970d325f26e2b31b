/** The types of identity checks. */
export const CHECK_TYPES = ['bvn', 'nin', 'bank_account'] as const;
/** A type of identity check. */
export type CheckType = (typeof CHECK_TYPES)[number];

/**
 * A client's request for a check, as stored in the journal. It has no number and no name: the last three digits select
 * the behaviour, and the digest recognizes a repeat.
 */
export type CheckRequest = {
  reference: string;
  client_reference: string;
  check_type: CheckType;
  ending: string;
  /** The ending of the BVN that is sent with a bank account. */
  bvn_ending: string | null;
  /** Keyed by the bank's secret. */
  digest: string;
  requested_at: string;
};

/** The end of a check. `failed`: nothing could be found out. */
export type CheckResult = 'verified' | 'rejected' | 'failed';

/** The facts about checks in the journal; `check` is the number that `check_ordered` assigned. */
export type CheckRecord =
  | { kind: 'check_ordered'; check: number; order: CheckRequest; at: number }
  | {
      kind: 'checked';
      check: number;
      seq: number;
      result: CheckResult;
      code: string | null;
      at: number;
    };
