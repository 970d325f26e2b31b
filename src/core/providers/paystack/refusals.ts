import type { Fault } from '../port.js';
import type { Refusal } from './envelope.js';

/**
 * The meaning of Paystack's refusals, call by call, in closed tables: by a specific code, then by the whole text, last by
 * a general code. A refusal that is in no table is `unrecognized`: it proves nothing, in either direction.
 */

/** A refusal in our terms. */
export type Meaning =
  | { kind: 'not_found' }
  | { kind: 'unknown'; reason: 'conflict' | 'unrecognized' }
  | { kind: 'rejected'; code: string; scope: 'request' }
  | {
      kind: 'rejected_temporarily';
      reason: 'float' | 'suspended' | 'stale_handle';
      afterMs: number;
      fault?: Fault;
    };

/** The table of one call. `general`: codes that Paystack gives to many different refusals. */
type RefusalTable = {
  codes?: Readonly<Record<string, Meaning>>;
  texts?: Readonly<Record<string, Meaning>>;
  general?: Readonly<Record<string, Meaning>>;
};

/** The least pause after a fault. It lasts until the health check or an operator ends it. */
const FAULT_PAUSE_MS = 15_000;

const NOT_FOUND: Meaning = { kind: 'not_found' };
const CONFLICT: Meaning = { kind: 'unknown', reason: 'conflict' };
const UNRECOGNIZED: Meaning = { kind: 'unknown', reason: 'unrecognized' };
const STALE: Meaning = { kind: 'rejected_temporarily', reason: 'stale_handle', afterMs: 0 };
const paused = (reason: 'float' | 'suspended', fault: Fault): Meaning => ({
  kind: 'rejected_temporarily',
  reason,
  afterMs: FAULT_PAUSE_MS,
  fault,
});
const FLOAT = paused('float', 'float');
const SUSPENDED = paused('suspended', 'suspended');
/** Our request is wrong in itself: a defect, of which its tenant must not pay the price. */
const BAD_REQUEST = paused('suspended', 'bad_request');
const rejected = (code: string): Meaning => ({ kind: 'rejected', code, scope: 'request' });

/** The business, and not the request, is refused. */
const OF_THE_BUSINESS: Readonly<Record<string, Meaning>> = {
  'you cannot initiate third party payouts as a starter business': SUSPENDED,
  'integration has been deactivated': SUSPENDED,
  'invalid merchant selected': SUSPENDED,
  'error: you do not have privileges for this action. kindly contact admin': SUSPENDED,
  'access denied': SUSPENDED,
};

/** As above, of charges and refunds: a key that lacks their privilege may still pay transfers. */
const OF_THE_PAYMENTS: Readonly<Record<string, Meaning>> = {
  ...OF_THE_BUSINESS,
  'error: you do not have privileges for this action. kindly contact admin': BAD_REQUEST,
  'access denied': BAD_REQUEST,
};

const WRONG_REQUEST: Readonly<Record<string, Meaning>> = {
  missing_params: BAD_REQUEST,
  invalid_params: BAD_REQUEST,
  unknown: UNRECOGNIZED,
};

const OF_THE_RECIPIENT: Readonly<Record<string, Meaning>> = {
  'account closed': rejected('account_closed'),
  'account number is invalid': rejected('invalid_account'),
  'account number should be numeric': rejected('invalid_account'),
  'account number must be at least 6 digits in length': rejected('invalid_account'),
  'bank code is invalid': rejected('invalid_account'),
  'unknown bank code': rejected('invalid_account'),
  'bank is invalid': rejected('invalid_account'),
  'cannot resolve account': rejected('invalid_account'),
  'could not resolve account name. check parameters or try again': rejected('invalid_account'),
  "sorry, we can't make the transfer to this recipient at the moment":
    rejected('recipient_blocked'),
};

const OF_THE_SAVED_METHOD: Readonly<Record<string, Meaning>> = {
  'invalid authorization code': rejected('authorization_not_found'),
  'authorization code is invalid': rejected('authorization_not_found'),
  'authorization code not found': rejected('authorization_not_found'),
  'email address does not match authorization code': rejected('authorization_not_found'),
  'email does not match authorization code. authorization may be inactive or belong to a different email. please confirm':
    rejected('authorization_not_found'),
};

const USED_TRANSACTION: Readonly<Record<string, Meaning>> = {
  'duplicate transaction reference': CONFLICT,
  'duplicate charge request for reference': CONFLICT,
};

const NO_ACCOUNT = {
  codes: { dedicated_account_not_found: NOT_FOUND, dedicated_nuban_not_found: NOT_FOUND },
  texts: {
    'dedicated account not found': NOT_FOUND,
    'dedicated nuban not found': NOT_FOUND,
    'dedicated virtual account not found': NOT_FOUND,
  },
} as const satisfies RefusalTable;

/** The tables, by our call. */
export const REFUSALS = {
  prepare: {
    texts: { ...OF_THE_BUSINESS, ...OF_THE_RECIPIENT },
    general: WRONG_REQUEST,
  },
  submit: {
    codes: {
      duplicate_transfer_reference: CONFLICT,
      invalid_transfer_recipient: STALE,
      insufficient_balance: FLOAT,
    },
    texts: {
      ...OF_THE_BUSINESS,
      ...OF_THE_RECIPIENT,
      'please provide a unique reference. reference already exists on a transfer': CONFLICT,
      'recipient specified is invalid': STALE,
      'your balance is not enough to fulfil this request': FLOAT,
      'your balance is not enough to fulfill this request': FLOAT,
      'your reference contains illegal special characters': BAD_REQUEST,
      'invalid amount passed': BAD_REQUEST,
      'invalid amount sent': BAD_REQUEST,
      'system malfunction': UNRECOGNIZED,
    },
    general: WRONG_REQUEST,
  },
  verifyTransfer: {
    codes: { transfer_not_found: NOT_FOUND },
    texts: { 'transfer not found': NOT_FOUND },
  },
  resolve: {
    texts: {
      'could not resolve account name. check parameters or try again': NOT_FOUND,
      'cannot resolve account': NOT_FOUND,
      'unknown bank code': NOT_FOUND,
      'bank code is invalid': NOT_FOUND,
    },
  },
  openPage: {
    codes: { duplicate_reference: CONFLICT, duplicate_transaction_reference: CONFLICT },
    texts: {
      ...OF_THE_PAYMENTS,
      ...USED_TRANSACTION,
      'invalid email address passed': rejected('invalid_email'),
      'email is not allowed to be empty': rejected('invalid_email'),
      'transaction amount limit exceeded': rejected('amount_limit'),
      'invalid character in transaction reference': BAD_REQUEST,
      'invalid amount sent': BAD_REQUEST,
      'currency not supported by merchant': BAD_REQUEST,
    },
    general: WRONG_REQUEST,
  },
  confirm: {
    codes: { duplicate_reference: CONFLICT, duplicate_transaction_reference: CONFLICT },
    texts: {
      ...OF_THE_PAYMENTS,
      ...USED_TRANSACTION,
      ...OF_THE_SAVED_METHOD,
      'invalid email address passed': rejected('invalid_email'),
      'transaction amount limit exceeded': rejected('amount_limit'),
      'invalid character in transaction reference': BAD_REQUEST,
      'invalid amount sent': BAD_REQUEST,
      'currency not supported by merchant': BAD_REQUEST,
    },
    general: WRONG_REQUEST,
  },
  verifyCharge: {
    codes: { transaction_not_found: NOT_FOUND },
    texts: { 'transaction reference not found': NOT_FOUND },
  },
  setUp: {
    texts: { ...OF_THE_PAYMENTS, 'invalid email address passed': rejected('invalid_email') },
    general: WRONG_REQUEST,
  },
  verifySetup: {
    texts: {
      'authorization not found': NOT_FOUND,
      'authorization does not exist or does not belong to integration': NOT_FOUND,
    },
  },
  refund: {
    codes: { transaction_not_found: rejected('charge_not_found'), insufficient_balance: FLOAT },
    texts: {
      ...OF_THE_PAYMENTS,
      'transaction not found': rejected('charge_not_found'),
      'transaction reference not found': rejected('charge_not_found'),
      'transaction has been fully reversed': rejected('charge_already_refunded'),
      'insufficient balance to fulfill this refund. please top up': FLOAT,
      'insufficient balance to fulfil this refund. please top up': FLOAT,
      'your balance is not enough to fulfil this request': FLOAT,
      'your balance is not enough to fulfill this request': FLOAT,
    },
    general: WRONG_REQUEST,
  },
  resumeRefund: { texts: OF_THE_RECIPIENT, general: WRONG_REQUEST },
  findCustomer: {
    codes: { customer_not_found: NOT_FOUND },
    texts: {
      'customer not found': NOT_FOUND,
      'a customer with the specified email or code was not found': NOT_FOUND,
    },
  },
  createCustomer: {
    texts: { ...OF_THE_BUSINESS, 'invalid email address passed': BAD_REQUEST },
    general: WRONG_REQUEST,
  },
  assignAccount: {
    codes: { feature_unavailable: SUSPENDED },
    texts: {
      ...OF_THE_BUSINESS,
      'dedicated nuban is not available for your business': SUSPENDED,
      'customer not found': BAD_REQUEST,
    },
    general: WRONG_REQUEST,
  },
  identify: {
    texts: {
      ...OF_THE_BUSINESS,
      'invalid bvn': rejected('invalid_bvn'),
      'bvn must be 11 digits long': rejected('invalid_bvn'),
      'unknown bank code': rejected('no_such_bank'),
      'bank code is invalid': rejected('no_such_bank'),
      'customer already validated using the same credentials': CONFLICT,
      'customer not found': BAD_REQUEST,
    },
    general: WRONG_REQUEST,
  },
  findAccount: { ...NO_ACCOUNT },
  closeAccount: { ...NO_ACCOUNT },
  requery: { ...NO_ACCOUNT },
  listAccounts: {},
  accountBanks: {},
  listDeposits: {},
  list: {},
  banks: {},
  balance: {},
  ledger: {},
  ledgerEntry: {},
  findRefunds: {},
  findDisputes: {},
  revoke: {
    codes: { authorization_not_found: NOT_FOUND },
    texts: { 'authorization code not found': NOT_FOUND, 'invalid authorization code': NOT_FOUND },
  },
} as const satisfies Record<string, RefusalTable>;

/** A call of the adapter. */
export type Call = keyof typeof REFUSALS;

/** The meaning of a refusal of this call. */
export function meaningOf(call: Call, { code, text }: Pick<Refusal, 'code' | 'text'>): Meaning {
  const { codes = {}, texts = {}, general = {} }: RefusalTable = REFUSALS[call];
  const found = [own(codes, code), own(texts, text), own(general, code)];
  return found.find((each) => each !== undefined) ?? UNRECOGNIZED;
}

/** A text of Paystack's may be the name of a property that every object has. */
const own = (table: Readonly<Record<string, Meaning>>, key: string): Meaning | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
