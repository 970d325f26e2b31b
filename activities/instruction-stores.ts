import type { BillPayment } from '../src/capabilities/bill-payments/record.js';
import type { CardOperation } from '../src/capabilities/cards/card-operation.js';
import type { Charge } from '../src/capabilities/charges/record.js';
import type { Deposit } from '../src/capabilities/deposits/record.js';
import type { IdentityCheck } from '../src/capabilities/identity-checks/record.js';
import type { Refund } from '../src/capabilities/refunds/record.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import type { VirtualAccount } from '../src/capabilities/virtual-accounts/record.js';
import type { InstructionStore } from '../src/core/instructions/store.js';

/** The store of each type of instruction. The types are workflow types and stay in histories. */
export type InstructionStores = {
  transfer: InstructionStore<Transfer>;
  charge: InstructionStore<Charge>;
  refund: InstructionStore<Refund>;
  identityCheck: InstructionStore<IdentityCheck>;
  billPayment: InstructionStore<BillPayment>;
  cardIssuance: InstructionStore<CardOperation>;
  cardState: InstructionStore<CardOperation>;
  cardFunding: InstructionStore<CardOperation>;
  cardUnload: InstructionStore<CardOperation>;
  cardDispute: InstructionStore<CardOperation>;
  virtualAccountAssignment: InstructionStore<VirtualAccount>;
  virtualAccountClosing: InstructionStore<VirtualAccount>;
  depositConfirmation: InstructionStore<Deposit>;
  depositReturn: InstructionStore<Deposit>;
};

/** Type of an instruction: the type of the workflow that executes it. */
export type InstructionType = keyof InstructionStores;

/** The capability of each type, which the acts of operators are named after. */
export const CAPABILITIES: Record<InstructionType, string> = {
  transfer: 'transfers',
  charge: 'charges',
  refund: 'refunds',
  cardIssuance: 'cards',
  cardState: 'cards',
  cardFunding: 'cards',
  cardUnload: 'cards',
  cardDispute: 'cards',
  billPayment: 'bill-payments',
  virtualAccountAssignment: 'virtual-accounts',
  virtualAccountClosing: 'virtual-accounts',
  depositConfirmation: 'deposits',
  depositReturn: 'deposits',
  identityCheck: 'identity-checks',
};

/** Stores of all instructions, by their collection. */
export type InstructionStoreDeps = {
  transfers: { store: InstructionStores['transfer'] };
  charges: { store: InstructionStores['charge'] };
  refunds: { store: InstructionStores['refund'] };
  identityChecks: { store: InstructionStores['identityCheck'] };
  billPayments: { store: InstructionStores['billPayment'] };
  cards: { operations: InstructionStores['cardFunding'] };
  virtualAccounts: { store: InstructionStores['virtualAccountAssignment'] };
  deposits: { store: InstructionStores['depositReturn'] };
};

/** The stores of all instructions by their type. */
export function instructionStores(deps: InstructionStoreDeps): InstructionStores {
  const { operations } = deps.cards;
  return {
    transfer: deps.transfers.store,
    charge: deps.charges.store,
    refund: deps.refunds.store,
    identityCheck: deps.identityChecks.store,
    billPayment: deps.billPayments.store,
    cardIssuance: operations,
    cardState: operations,
    cardFunding: operations,
    cardUnload: operations,
    cardDispute: operations,
    virtualAccountAssignment: deps.virtualAccounts.store,
    virtualAccountClosing: deps.virtualAccounts.store,
    depositConfirmation: deps.deposits.store,
    depositReturn: deps.deposits.store,
  };
}
