import type { InstructionFact } from './fact.js';
import type { InstructionRecord } from './instruction.js';
import type { Change, Verdict } from './transition.js';
import type { InstructionLabels } from './workflow-contract.js';

/** An instruction that holds money in the wallet until its outcome is proven. */
export type HeldInstruction = InstructionRecord & {
  failure: { code: string; message: string } | null;
  /** True if the provider executed it and that was proven after the hold was released: it is booked in suspense. */
  in_suspense: boolean;
  /** Amount that the provider has executed and an operator has accepted, if it is not the requested one. */
  settled_amount_minor?: bigint | null;
  completed_at: Date | null;
  reversed_at: Date | null;
  /** How often an operator has corrected what is booked of it after its end; missing if never. Later postings have this number. */
  corrections?: number;
};

/**
 * A correction of what is booked, for a wallet or in suspense. `adjustment`: to another amount. `return`: nothing was paid after
 * all, and nothing remains booked.
 */
export type Correction = 'adjustment' | 'return';

/** A movement of held money. */
export type HoldStep =
  'capture' | 'release' | 'reversal' | 'suspense' | 'suspense-reversal' | 'suspense-debit';

/** Result of a fact. `unchanged` and `stale` write nothing. */
export type TransitionResult<R> = {
  verdict: Verdict;
  next: R;
  /** Movements of the held money, in sequence. The capability makes postings of them. */
  ledgerEffects: readonly HoldStep[];
  /** A correction of what is booked, before these movements. */
  correction?: Correction;
};

/** A capability's own part of a transition. */
export type TransitionRules<R> = {
  labels: InstructionLabels;
  requestedMinor: bigint | null;
  /** An operator may accept another amount: the capability's postings follow `settled_amount_minor`. */
  acceptsOtherAmount?: boolean;
  /** An operator may correct what is booked after the end: the capability's postings follow `correction` and `corrections`. */
  correctable?: boolean;
  /** True if the wallet covers a suspense debit. */
  covered: boolean;
  failure(code: string): { code: string; message: string };
  /** Timeline texts about the money. */
  timelineDetails: { captured: string; reversed: string };
  /** Further fields that a payment or its reversal sets on the record. */
  proof?(fact: Extract<InstructionFact, { kind: 'succeeded' | 'reversed' }>): Partial<R>;
  /** Reason why the fact contradicts the record, besides another amount: then no money moves and attention is raised. */
  contradicts?(fact: InstructionFact): string | null;
  /** Name of the fact on the timeline, if its kind is not precise enough. */
  label?: string;
};

/** The effect of a fact: fields, a timeline entry and movements of the held money. */
export type HeldChange = Change<HeldInstruction> & {
  ledgerEffects?: HoldStep[];
  correction?: Correction;
};

/** The record to which a fact applies, the time, and the rules of its capability. `proven`: the fields that the fact sets. */
export type TransitionCase = {
  record: HeldInstruction;
  now: Date;
  rules: TransitionRules<never> & { proven: object };
};
