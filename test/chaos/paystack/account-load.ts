import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  depositId,
  mayBeReturned,
  type Deposit,
} from '../../../src/capabilities/deposits/record.js';
import type { IdentityCheck } from '../../../src/capabilities/identity-checks/record.js';
import type { VirtualAccount } from '../../../src/capabilities/virtual-accounts/record.js';
import { HOUR_MS } from '../../../src/shared/durations.js';
import type { Arrival } from '../../fakes/paystack/accounts.js';
import type { Rehearsal } from '../../paystack/rehearsal.js';
import { checkBody, newCustomerId, type CheckView } from '../../support/identity.js';
import type { TestTenant } from '../../support/tenant.js';
import {
  accountClient,
  accountCustomer,
  type AccountView,
} from '../../support/virtual-accounts.js';
import { unlessBusy } from '../random-faults/operators.js';
import type { Random } from '../random-faults/random.js';
import { createSuspense } from '../random-faults/suspense.js';
import { untilAnswered } from './load.js';

/** Acts that follow each other quickly. */
const QUICK_ACTS = 150;

/** The end of the phone numbers of holders who get no account. */
export const NO_ACCOUNT = '002';
/** The end of the phone numbers of holders whose accounts stay open until Paystack's staff decides. */
const UNDECIDED = '006';
/** Ends of holders' phone numbers: assigned at once, later, refused later, and undecided. */
const HOLDERS = ['678', '678', '678', '001', NO_ACCOUNT, UNDECIDED];
/** The end of accounts about which Paystack's check never ends. */
const SILENT = '005';
/** The results of checks by the end of the account. That of `004` is told to nobody, and `005` is given up after a day. */
export const RESULTS: Record<string, string> = {
  '789': 'verified',
  '004': 'verified',
  '002': 'rejected',
  '006': 'failed',
  [SILENT]: 'failed',
};
/** Longer than Paystack's word on a check is awaited. */
const OVERDUE_MS = 25 * HOUR_MS;
/** The ways of money: told, told twice, found in the list, and unknown to Paystack before a requery. */
const ARRIVALS: (Arrival & { again?: boolean })[] = [
  {},
  { again: true },
  { tell: false },
  { known: false },
];
/** Last digits of amounts. A return of the last kind is listed late. */
const ENDS = [0, 0, 14];
/** The amount that some accounts expect. Other deposits on them are returned. */
const EXPECTED_MINOR = 100_000;

/** A request for an account, a check and its id, and a deposit as it was paid. */
type Opened = { reference: string; phone: string; accepted: boolean };
type Check = { id: string; suffix: string };
type Paid = { account: string; reference: string; amount: number };

/** The clients of virtual accounts and identity checks in a random-fault run, and what they have done. */
export type AccountLoad = ReturnType<typeof createAccountLoad>;

/** Creates clients of one tenant: accounts and their closings, the money on them, its return by an operator, and checks. */
export function createAccountLoad(
  { fake, service }: Pick<Rehearsal, 'fake' | 'service'>,
  tenant: TestTenant,
  random: Random,
) {
  const { db } = service.deps.database;
  const accounts = accountClient(tenant);
  const suspense = createSuspense({ service });
  const opened: Opened[] = [];
  const paid: Paid[] = [];
  const checks: Check[] = [];
  const decided = new Set<number>();
  const counts = { returns: 0 };
  let acts = 0;

  async function open(): Promise<void> {
    const phone = `+2348012345${random.pick(HOLDERS)}`;
    const reference = `account-${randomUUID()}`;
    const strict = { expected_amount_minor: EXPECTED_MINOR, on_mismatch: 'return' };
    const body = {
      reference,
      customer: { id: accountCustomer(), name: 'Ada Obi', phone },
      ...(random.chance(0.2) && strict),
    };
    const { accepted } = await untilAnswered(tenant, '/virtual-accounts', body);
    opened.push({ reference, phone, accepted });
  }

  /** Accounts in a state. None if the API does not answer. */
  async function inState(status: 'active' | 'closed'): Promise<AccountView[]> {
    const reply = await accounts.list(`?status=${status}&limit=50`).catch(() => null);
    return reply?.body.data ?? [];
  }

  async function close(): Promise<void> {
    const found = await inState('active');
    if (found.length < 2) return open();
    await untilAnswered(tenant, `/virtual-accounts/${random.pick(found).id}/close`, {});
  }

  /** Money arrives on an account. */
  async function pay(found: readonly AccountView[]): Promise<void> {
    const { id: account, account_number: number } = random.pick(found);
    const amount = 100 * Math.round(random.between(2_000, 4_000)) + random.pick(ENDS);
    const { again, ...arrival } = random.pick(ARRIVALS);
    const reference = fake.deposit(String(number), amount, arrival);
    paid.push({ account, reference, amount });
    if (again) fake.tellAgain(reference);
    if (arrival.known === false) await endDay([account]);
  }

  async function payOpen(): Promise<void> {
    const found = await inState('active');
    return found.length === 0 ? open() : pay(found);
  }

  async function payLate(): Promise<void> {
    const found = await inState('closed');
    return found.length === 0 ? close() : pay(found);
  }

  /** An account has one requery a day. The run ends the day, so that the next one is due. */
  const endDay = (ids: string[]) =>
    db
      .collection<VirtualAccount>('virtual_accounts')
      .updateMany({ _id: { $in: ids } }, { $set: { requeried_at: null }, $inc: { version: 1 } });

  async function sendBack(deposit: Deposit): Promise<void> {
    counts.returns += Number(await suspense.sendBack(deposit));
  }

  async function sendAnyBack(): Promise<void> {
    const waiting = await suspense.undecided();
    if (waiting.length > 0) await sendBack(random.pick(waiting));
  }

  /** The run's operator sends a deposit back, or Paystack's staff decides about the accounts that wait. */
  const decide = async () => (random.chance(0.3) ? assignWaiting() : sendAnyBack());

  /** Makes what a short run on a slow machine may not have had yet: money on a closed account, and its return by an operator. */
  async function makeMissing(): Promise<void> {
    if (checks.length === 0) await check();
    if (counts.returns > 0) return;
    await payLate();
    await sendAnyBack();
  }

  function assignWaiting(): void {
    const waiting = new Set(
      fake
        .customers()
        .filter(({ phone }) => phone?.endsWith(UNDECIDED))
        .map(({ email }) => email),
    );
    for (const { id, email } of fake.dedicatedAccounts()) {
      if (!waiting.has(email) || decided.has(id)) continue;
      decided.add(id);
      fake.assignAccount(String(id), 'success');
    }
  }

  async function check(): Promise<void> {
    const suffix = random.pick(Object.keys(RESULTS));
    const body = { ...checkBody('bank_account', `0123456${suffix}`), bvn: '22212345678' };
    const path = `/identity/customers/${newCustomerId()}/kyc/bank_account/verify`;
    const { reply, accepted } = await untilAnswered(tenant, path, body);
    if (!accepted) return;
    checks.push({ id: (reply.body.data as unknown as CheckView).id, suffix });
  }

  /** The deposits that have no record here yet. */
  async function missing(): Promise<Paid[]> {
    const known = await db
      .collection<Deposit>('deposits')
      .find({}, { projection: { reference: 1 } })
      .toArray();
    const found = new Set(known.map(({ _id }) => _id));
    return paid.filter(({ reference }) => !found.has(depositId('paystack', reference)));
  }

  /** A check about which Paystack is silent is given up after a day. The run ends it, as if the day were over. */
  async function giveUpSilent(): Promise<void> {
    const ids = checks.filter(({ suffix }) => suffix === SILENT).map(({ id }) => id);
    const overdue = new Date(Date.now() - OVERDUE_MS);
    await db
      .collection<IdentityCheck>('identity_checks')
      .updateMany(
        { _id: { $in: ids }, status: 'processing', acknowledged_at: { $type: 'date' } },
        { $set: { acknowledged_at: overdue }, $inc: { version: 1 } },
      );
  }

  const ACTS = [open, open, payOpen, payOpen, payOpen, payLate, close, decide, check, check];
  return {
    opened,
    paid,
    checks,
    counts,
    /** One client, until the time is over. A short run has every kind of act, and a long one no more than its Paystack answers. */
    async run(untilMs: number): Promise<void> {
      while (performance.now() < untilMs) {
        await random.pick(ACTS)().catch(unlessBusy);
        acts += 1;
        await sleep(acts < QUICK_ACTS ? random.between(50, 300) : random.between(2_000, 8_000));
      }
    },
    makeMissing,
    /** Ends what waits for a day or for people. A deposit that was perhaps returned can only be returned again. */
    async settle(): Promise<void> {
      assignWaiting();
      await giveUpSilent();
      await endDay((await missing()).map(({ account }) => account));
      for (const deposit of await suspense.undecided()) {
        const isFirst = counts.returns === 0;
        if (isFirst || mayBeReturned(deposit) || random.chance(0.5)) await sendBack(deposit);
      }
    },
    /** The number of deposits that have no record here, or wait for a decision. */
    async waiting(): Promise<number> {
      return (await missing()).length + (await suspense.undecided()).length;
    },
  };
}
