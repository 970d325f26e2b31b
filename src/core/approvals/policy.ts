/** The settings that say which acts a second person approves. */
export type ApprovalPolicy = {
  /** True: every act that the policy names. False: only those without the provider's word. */
  all: boolean;
  /** Credits and returns above this amount are approved, in kobo. */
  creditAboveMinor: bigint;
  /** True in live: new keys are approved. */
  keys: boolean;
};

/** An act as the policy sees it. */
export type PolicyCase =
  /** The operator states an outcome that the provider does not confirm. */
  | { act: 'unproven' }
  /** Money from outside for a wallet, or from suspense back to its sender. */
  | { act: 'credit' | 'return'; amountMinor: bigint }
  /** Money in suspense is given to a tenant, or charged to one. */
  | { act: 'suspense_move' }
  /** A refund goes to an account that an operator has named. */
  | { act: 'refund_account' }
  /** The names of the limits that the act raises. */
  | { act: 'limits'; raised: readonly string[] }
  /** A key that calls the API, created or rotated. */
  | { act: 'key' }
  /** An address that events are sent to. */
  | { act: 'endpoint' }
  /** A new secret that signs the events of an endpoint. */
  | { act: 'endpoint_secret' }
  /** The personal data of a customer is erased, which nothing brings back. */
  | { act: 'erasure' }
  /** A difference from the provider is accepted as it is, with this money at stake. */
  | { act: 'accept_break'; amountMinor: bigint }
  /** The reports of a provider are applied to many records. */
  | { act: 'reconciliation' };

/**
 * The reason why a second person must approve an act, in words; null if nobody must. The only place that reads the policy.
 */
export function reasonForApproval(policy: ApprovalPolicy, asked: PolicyCase): string | null {
  if (asked.act === 'unproven') return 'the provider does not confirm it';
  if (!policy.all) return null;
  switch (asked.act) {
    case 'credit':
    case 'return':
    case 'accept_break':
      return asked.amountMinor > policy.creditAboveMinor
        ? `the amount is above ${policy.creditAboveMinor} kobo`
        : null;
    case 'suspense_move':
      return 'it moves money in suspense';
    case 'refund_account':
      return 'it sends a refund to an account that an operator has named';
    case 'limits':
      return asked.raised.length === 0 ? null : `it raises ${asked.raised.join(', ')}`;
    case 'key':
      return policy.keys ? 'it makes a key of the API' : null;
    case 'endpoint':
      return 'it sends events to a new address';
    case 'endpoint_secret':
      return 'it shows a secret that signs events';
    case 'erasure':
      return 'it erases personal data, which nothing brings back';
    case 'reconciliation':
      return 'it applies the reports of the bank';
  }
}
