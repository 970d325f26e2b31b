import type { Break, BreakKind } from '../../core/reconciliation/break.js';

/** The meaning of each kind of break, for operators. */
const MEANINGS: Readonly<Record<BreakKind, string>> = {
  missing_here:
    'The provider has moved money that no record of ours explains: a payment from after a backup, a message that was lost, or money that is not ours.',
  missing_there:
    'Our ledger has a movement that the provider does not have: the money may not have moved.',
  other_amount: 'Both sides have the payment, with different amounts.',
  other_state: 'One side has moved the money, and the other side has not, or has moved it back.',
  duplicate: 'The provider has moved the money more than once, and our ledger once.',
  fee_differs: 'Both sides agree on the amount, but not on the fee of the provider.',
  gap: 'The running balance of the statement does not continue that of the row before: rows are missing, or are wrong.',
};

/** The meaning for the records of a capability that moves no money. */
const MEANINGS_OF: Readonly<Record<string, Partial<Record<BreakKind, string>>>> = {
  'card-states': {
    missing_there: 'The card can be used here, and the issuer does not know it.',
    other_state: 'The card is in another state here than at the issuer.',
  },
  'virtual-accounts': {
    missing_there: 'The account is active here, and the provider does not know it.',
    other_state: 'The account is active here, and the provider has it in another state.',
  },
};

const ACTS: Readonly<Record<BreakKind, string>> = {
  missing_here:
    'Find the owner at the provider. Book money that came in by the usual acts (wallets credit, deposits assign). No command debits a wallet: settle a payment that went out with the tenant. Then close the break with the reason.',
  missing_there:
    'Show the record, and resolve it with the provider. complete and fail move the money once the provider confirms.',
  other_amount:
    'Show the record: complete --amount-minor, or accepting the suspended payment, books what the provider has moved.',
  other_state: 'Ask the provider: its answer is applied by the rules of the record.',
  duplicate:
    'Claim the second payment from the provider, and close the break once the money is back.',
  fee_differs: 'Compare with the price list. Claim the difference, or close the break.',
  gap: 'Get the statement again. A complete one closes the break by itself.',
};

/** The acts for the records of a capability that has no commands to end them. */
const ACTS_OF: Readonly<Record<string, Partial<Record<BreakKind, string>>>> = {
  'card-states': {
    missing_there:
      'Show the card, and ask the issuer for it. Lock it meanwhile: bursar cards lock. A card that the tenant closes gives its balance back.',
  },
  'card-authorizations': {
    missing_there:
      'Show the payment, and ask the issuer which of its reports are right. No command takes back what is booked: once the issuer reports a reversal, a refund or a correction, it is booked.',
    other_amount:
      'Show the payment, and ask the issuer which amount is right. Its correction, reversal or refund is booked once it reports it.',
  },
  'virtual-accounts': {
    missing_there:
      'Show the account, and ask the provider for it: payers may still pay to its number. Once the provider reports it as closed, it is closed here.',
  },
};

/** The commands for the records of a capability, if its own name is none. */
const COMMANDS: Readonly<Record<string, string>> = {
  'card-states': 'cards',
  'card-fundings': 'cards',
  'card-unloads': 'cards',
};

/** The meaning of a break and the acts that end it. Closing a break moves no money. */
export function explainBreak({
  _id,
  kind,
  capability,
  reference,
  source,
  tenant_id: tenant,
}: Break) {
  const isAsked = capability !== null && tenant !== null;
  const again =
    source === 'record'
      ? 'The next reconciliation closes the break if both sides agree.'
      : 'The next statement with this reference, or bursar statements match, closes the break if both sides agree.';
  return {
    meaning: (capability !== null && MEANINGS_OF[capability]?.[kind]) || MEANINGS[kind],
    acts: [
      (capability !== null && ACTS_OF[capability]?.[kind]) || ACTS[kind],
      ...(capability === 'disputes'
        ? [`If the provider contradicts itself: bursar disputes decide ${reference}.`]
        : []),
      ...(isAsked
        ? [
            `bursar ${COMMANDS[capability] ?? capability} show ${reference}`,
            `bursar breaks ask ${_id}`,
          ]
        : []),
      `bursar breaks close ${_id} --reason "…" accepts it as it is, and moves no money.`,
      again,
    ],
  };
}
