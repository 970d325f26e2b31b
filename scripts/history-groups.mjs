// The groups of scripts/record-histories.mjs for virtual accounts, deposits, identity checks and bill payments.
import { randomUUID } from 'node:crypto';

/** Name of the history, and the end of the customer's id. */
const ACCOUNTS = [
  'assigned 789',
  'callback-only 001',
  'rejected 002',
  'unknown-then-verified 004',
  'errors-then-assigned 007',
  'throttled-then-assigned 010',
];

/** Name of the history, and the end of the customer's id. */
const CLOSINGS = ['closed 789', 'unanswered 016'];

/** Name of the history, and the end of the sender's name. */
const DEPOSITS = ['credited Obi', 'found-later 001', 'by-requery 003', 'by-list 004'];

/** Name of the history, and the end of the sender's name, which selects what becomes of the return. */
const RETURNS = ['returned Obi', 'unknown-then-verified 013'];

/** Opens virtual accounts, closes them, and has money sent to them. `parts`: those of the recorder. */
function accountRecorders({ call, atBank, until, save, db }) {
  const openAccount = (suffix, more = {}) =>
    call('/virtual-accounts', { customer_id: `history-${randomUUID()}-${suffix}`, ...more });

  async function recordAccount(one) {
    const [name, suffix] = one.split(' ');
    const { id } = await openAccount(suffix);
    await save(`virtual-account-assignment/${id}`, `virtual-account-assignment-${name}`);
  }

  async function activeAccount(suffix = '789', more = {}) {
    const { id } = await openAccount(suffix, more);
    return until('the account is active', async () => {
      const account = await call(`/virtual-accounts/${id}`);
      return account.status === 'active' && account;
    });
  }

  async function recordClosing(one) {
    const [name, suffix] = one.split(' ');
    const { id } = await activeAccount(suffix);
    await call(`/virtual-accounts/${id}/close`, {});
    await save(`virtual-account-closing/${id}`, `virtual-account-closing-${name}`);
  }

  /** Sends money to an account. Returns the deposit's record. */
  async function deposit({ id, account_number: number }, suffix) {
    const sender_name = `Ada ${randomUUID()} ${suffix}`;
    await atBank(`/virtual-accounts/${number}/deposits`, { amount_minor: 250_000, sender_name });
    const about = { virtual_account_id: id };
    return until('the deposit is known', () => db.collection('deposits').findOne(about));
  }

  async function recordDeposit(one) {
    const [name, suffix] = one.split(' ');
    const { _id } = await deposit(await activeAccount(), suffix);
    await save(`deposit-confirmation/${_id}`, `deposit-confirmation-${name}`);
  }

  async function recordReturn(one) {
    const [name, suffix] = one.split(' ');
    const terms = { expected_amount_minor: 1_000, on_mismatch: 'return' };
    const { _id } = await deposit(await activeAccount('789', terms), suffix);
    const about = { _id, state: 'returned' };
    await until('it is returned', () => db.collection('deposits').findOne(about));
    await save(`deposit-return/${_id}`, `deposit-return-${name}`);
  }

  return { recordAccount, recordClosing, recordDeposit, recordReturn };
}

/** Waits for a run of a workflow that a Schedule starts. */
function scheduledRecorder({ until, save, workflows }) {
  return (type, name) => async () => {
    const query = `WorkflowType = "${type}" AND ExecutionStatus = "Completed"`;
    const workflowId = await until('a run has ended', async () => {
      for await (const found of workflows.list({ query })) return found.workflowId;
      return null;
    });
    await save(workflowId, name);
  };
}

/** Checks customers. */
function checkRecorder({ call, atBank, until, save }) {
  /** Name of the history, the end of the number, and the steps that follow once attention is raised. */
  const CHECKS = [
    ['verified', '789'],
    ['callback-only', '001'],
    ['rejected', '002'],
    ['unknown-then-verified', '004'],
    ['errors-then-verified', '007'],
    ['throttled-then-verified', '010'],
    ['stuck-then-decided', '006', ({ id }) => atBank(`/checks/${id}`, { outcome: 'verified' })],
  ];

  async function recordCheck([name, suffix, ...steps]) {
    const customer = `history-${randomUUID()}`;
    const number = `22${String(Math.floor(Math.random() * 1_000_000)).padStart(6, '0')}${suffix}`;
    const body = { number, first_name: 'Adaeze', last_name: 'Okonkwo' };
    const { id } = await call(`/identity/customers/${customer}/kyc/bvn/verify`, body);
    const path = `/identity/customers/${customer}/kyc/${id}`;
    await until(`${name} ends or needs an operator`, async () => {
      const check = await call(path);
      return check.status !== 'pending' || check.attention !== null;
    });
    for (const step of steps) await step({ id, workflowId: `identity-check/${id}` });
    await save(`identity-check/${id}`, `identity-check-${name}`);
  }

  return { CHECKS, recordCheck };
}

/** Pays bills. */
function billRecorder({ call, atBank, until, save, act, hasEnded }) {
  /** Name of the history, the end of the customer's reference, and the steps that follow once attention is raised. */
  const BILLS = [
    ['paid', '789'],
    ['callback-only', '001'],
    ['rejected', '002'],
    ['unknown-then-verified', '004'],
    ['errors-then-paid', '007'],
    ['reversed', '008'],
    ['throttled-then-paid', '010'],
    [
      'stuck-then-failed',
      '006',
      act('fail'),
      ({ id }) => atBank(`/bills/${id}`, { outcome: 'failed' }),
    ],
  ];

  async function recordBill([name, suffix, ...steps]) {
    const { id } = await call('/billpay/payments', {
      biller_id: 'harbour-electric',
      item_id: 'harbour-prepaid',
      customer_reference: `4503061${suffix}`,
      amount_minor: 500_000,
    });
    const workflowId = `bill-payment/${id}`;
    await until(`${name} ends or needs an operator`, async () => {
      const payment = await call(`/billpay/payments/${id}`);
      return hasEnded(payment) || payment.attention !== null;
    });
    for (const step of steps) await step({ id, workflowId });
    await save(workflowId, `bill-payment-${name}`);
  }

  return { BILLS, recordBill };
}

/** The groups by their names. */
export function moreGroups(parts) {
  const { each } = parts;
  const accounts = accountRecorders(parts);
  const scheduled = scheduledRecorder(parts);
  const { CHECKS, recordCheck } = checkRecorder(parts);
  const { BILLS, recordBill } = billRecorder(parts);
  return {
    'virtual-accounts': each(ACCOUNTS, accounts.recordAccount),
    'account-closings': each(CLOSINGS, accounts.recordClosing),
    deposits: each(DEPOSITS, accounts.recordDeposit),
    'deposit-returns': each(RETURNS, accounts.recordReturn),
    'deposit-searches': scheduled('depositReconciliation', 'deposit-reconciliation'),
    statements: scheduled('statementReconciliation', 'statement-reconciliation'),
    'identity-checks': each(CHECKS, recordCheck),
    'bill-payments': each(BILLS, recordBill),
  };
}
