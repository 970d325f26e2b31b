/**
 * What a capability calls its record, the provider, and what the provider does: the words that make sentences for
 * operators. "The {provider} says that it did not {pay}."
 */
export type InstructionLabels = {
  record: string;
  provider: string;
  payment: string;
  pay: string;
  paid: string;
  /** How things stand while it is open: "The money is held". */
  meanwhile: string;
  /** What an operator's `fail` does, and what becomes of a payment that shows up all the same. */
  release: string;
  /** Null: nobody watches for one, for it would change nothing. */
  late: string | null;
  /** What an operator's `complete` does with such a payment. */
  suspenseDebit: string;
};
