/**
 * What a capability calls its record, the provider, and what the provider does: the words that make sentences for
 * operators. "The {provider} says that it did not {pay}."
 */
export type Words = {
  record: string;
  provider: string;
  payment: string;
  pay: string;
  paid: string;
};
