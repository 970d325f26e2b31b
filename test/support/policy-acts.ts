import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Deps } from '../../src/composition/deps.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import type { PolicyCase } from '../../src/core/approvals/policy.js';
import { furtherPolicyActs, heldDeposit } from './further-policy-acts.js';
import { pendingTransfer } from './transfers.js';
import type { OperatorRole } from '../../src/platform/operators/operator.js';
import type { TestDatabase } from './database.js';
import { eventually } from './eventually.js';
import { createTestOperator, operatorDeps, operatorSignIn } from './operators.js';
import type { Charge } from '../../src/capabilities/charges/record.js';
import { newRefund, type Refund } from '../../src/capabilities/refunds/record.js';
import { pageCharge, paid, sent, transition } from './charge-facts.js';
import type { Deposit } from '../../src/capabilities/deposits/record.js';

/** Settings under which everything that the policy names needs a second person. */
export const POLICY_OF_ALL = {
  BURSAR_APPROVALS: 'all',
  BURSAR_APPROVAL_CREDIT_ABOVE_MINOR: '1000',
  BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
};

/** A call of the operator API for an act that the policy names, on a target that exists. */
export type PolicyAct = {
  kind: string;
  target: string;
  method: 'POST' | 'PUT';
  path: string;
  body: object;
  /** The number of times that the act has taken effect. */
  effects(): Promise<number>;
  /** Changes the target; left out if the act does not depend on a state. */
  changeTarget?(): Promise<unknown>;
  /** Its request comes from its workflow. */
  fromWorkflow?: true;
  /** It cannot be carried out on this target, also with an approval. */
  fails?: true;
};

/** The operation of each kind of act, and the case of the policy that it is. */
export const POLICY_KINDS: Readonly<
  Record<string, { operation: string; policy: PolicyCase['act'] }>
> = {
  'wallets.credit': { operation: 'creditWallet', policy: 'credit' },
  'tenants.create': { operation: 'createTenant', policy: 'limits' },
  'tenants.update': { operation: 'updateTenant', policy: 'limits' },
  'keys.create': { operation: 'createKey', policy: 'key' },
  'keys.rotate': { operation: 'rotateKey', policy: 'key' },
  'webhooks.endpoints.add': { operation: 'addEndpoint', policy: 'endpoint' },
  'webhooks.endpoints.rotate': { operation: 'rotateEndpoint', policy: 'endpoint_secret' },
  'deposits.assign': { operation: 'assignDeposit', policy: 'suspense_move' },
  'deposits.return': { operation: 'returnDeposit', policy: 'return' },
  'charges.return': { operation: 'returnPayment', policy: 'return' },
  'refunds.resume': { operation: 'resumeRefund', policy: 'refund_account' },
  'customers.erase': { operation: 'eraseCustomer', policy: 'erasure' },
  'disputes.decide': { operation: 'decideDispute', policy: 'unproven' },
  'breaks.ask': { operation: 'askAboutBreak', policy: 'reconciliation' },
  'breaks.close': { operation: 'closeBreak', policy: 'accept_break' },
  'reconcile.apply': { operation: 'reconcileRecords', policy: 'reconciliation' },
  'transfers.complete': { operation: 'transfers.complete', policy: 'unproven' },
  'transfers.fail': { operation: 'transfers.fail', policy: 'unproven' },
  'transfers.retry': { operation: 'transfers.retry', policy: 'unproven' },
};

/** Every case of the policy: one that is missing here does not compile. */
export const POLICY_CASES = Object.keys({
  unproven: true,
  credit: true,
  return: true,
  suspense_move: true,
  refund_account: true,
  limits: true,
  key: true,
  endpoint: true,
  endpoint_secret: true,
  erasure: true,
  accept_break: true,
  reconciliation: true,
} satisfies Record<PolicyCase['act'], true>);

/**
 * Starts an operator API on this database, with settings beside those that every service needs. Returns its parts, the acts
 * that the policy names, and the making of people who call it. `keys`: new keys need an approval, as in live.
 */
export async function startPolicyApi(
  database: Pick<TestDatabase, 'uri' | 'name'>,
  settings: Readonly<Record<string, string>>,
  { keys = true } = {},
) {
  const env = {
    MONGODB_URI: database.uri,
    BURSAR_DATABASE: database.name,
    BURSAR_KEY_PEPPER: 'a pepper that only the tests use, long enough',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    // Nothing listens here: the provider does not answer.
    SANDBOX_BANK_URL: 'http://127.0.0.1:9',
    ...settings,
  };
  const url = String((await operatorSignIn(env))['BURSAR_OPERATOR_URL']);
  const deps = await operatorDeps(env);
  deps.config.approvals.keys = keys;

  /** An operator with these roles, and the calls that they make. */
  const person = async (...roles: OperatorRole[]) =>
    signedIn(await createTestOperator(deps, roles));

  /** The calls of an operator with this key. */
  function signedIn({ id, key }: { id: string; key: string }) {
    const call = async (method: string, path: string, body: object = {}) => {
      const response = await fetch(`${url}/operator/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(method !== 'GET' && { body: JSON.stringify(body) }),
      });
      const { data = {} } = (await response.json()) as { data?: Record<string, unknown> };
      return { status: response.status, data };
    };
    const send = ({ method, path, body }: PolicyAct) => call(method, path, body);
    const approve = (approval: unknown) => call('POST', `/approvals/${String(approval)}/approve`);

    /** Approves by a first request, whose body follows when `meanwhile` is done. That begins once the sign-in was accepted. */
    const approveAround = async (approval: unknown, meanwhile: () => Promise<void>) => {
      const path = `${url}/operator/v1/approvals/${String(approval)}/approve`;
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const sent = request(path, { method: 'POST', headers: { ...headers, 'content-length': 2 } });
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      sent.flushHeaders();
      await eventually('the sign-in was accepted', async () => {
        const [own] = await deps.operators.listKeys(id);
        return own?.last_used_at ? true : undefined;
      });
      await meanwhile();
      sent.end('{}');
      const [response] = await answered;
      const { data = {} } = (await json(response)) as { data?: Record<string, unknown> };
      return { status: Number(response.statusCode), data };
    };
    return { id, key, call, send, approve, approveAround };
  }
  return { deps, env, url, acts: policyActs(deps), person, signedIn };
}

/** The acts that the policy names, each on a fresh target. */
function policyActs(deps: Deps) {
  const { db } = deps.database;
  const count = (name: string, filter: object) => db.collection(name).countDocuments(filter);
  const tenant = async () => (await deps.tenants.create({ name: 'Ada', plan: 'sandbox' })).id;

  const credit = async (): Promise<PolicyAct> => {
    const id = await tenant();
    return {
      kind: 'wallets.credit',
      target: `${id}/r1`,
      method: 'POST',
      path: `/wallets/${id}/credits`,
      body: { amount_minor: 1_001, reference: 'r1', reason: 'opening' },
      effects: () => count('postings', { tenant_id: id }),
    };
  };

  const raise = async (): Promise<PolicyAct> => {
    const id = await tenant();
    return {
      kind: 'tenants.update',
      target: id,
      method: 'PUT',
      path: `/tenants/${id}`,
      body: { daily_limit_minor: 9_000_000_000, safeguards: { kyc: 3 } },
      effects: () => count('tenants', { _id: id, 'safeguards.kyc': 3 }),
      changeTarget: () => deps.tenants.update(id, { billFeeMinor: 7n }),
    };
  };

  const key = async (): Promise<PolicyAct> => {
    const id = await tenant();
    return {
      kind: 'keys.create',
      target: id,
      method: 'POST',
      path: '/keys',
      body: { tenant: id, level: 'write', label: 'shop', allowed_ips: ['203.0.113.7'] },
      effects: () => count('api_keys', { tenant_id: id }),
    };
  };

  const endpoint = async (): Promise<PolicyAct> => {
    const id = await tenant();
    return {
      kind: 'webhooks.endpoints.add',
      target: id,
      method: 'POST',
      path: '/webhooks/endpoints',
      body: { tenant: id, url: 'http://127.0.0.1:9/hook' },
      effects: () => count('webhook_endpoints', { tenant_id: id }),
    };
  };

  const refund = async (): Promise<PolicyAct> => {
    const deposit = heldDeposit(await tenant());
    const { _id: id } = deposit;
    await db.collection<Deposit>('deposits').insertOne(deposit);
    return {
      kind: 'deposits.return',
      target: id,
      method: 'POST',
      path: `/deposits/${id}/return`,
      body: { reason: 'the sender asks for it' },
      effects: () => count('deposits', { _id: id, instruction: 'return' }),
      changeTarget: () =>
        db
          .collection<{ _id: string }>('deposits')
          .updateOne({ _id: id }, { $inc: { submissions: 1 } }),
    };
  };

  /** Its request comes from the workflow, which is not there: the caller stores it. */
  const forcedFail = async (): Promise<PolicyAct> => {
    const transfer = pendingTransfer({ tenant_id: await tenant(), status: 'processing' });
    const { _id: id } = transfer;
    await db.collection<Transfer>('transfers').insertOne(transfer);
    const transfers = db.collection<Transfer>('transfers');
    return {
      kind: 'transfers.fail',
      target: id,
      method: 'POST',
      path: `/transfers/${id}/fail`,
      body: { reason: 'the bank is silent', force: true },
      fromWorkflow: true,
      effects: () => count('transfers', { _id: id, status: 'failed' }),
      changeTarget: () => transfers.updateOne({ _id: id }, { $inc: { submissions: 1 } }),
    };
  };

  /** The customer's account for a refund. */
  const resume = async (): Promise<PolicyAct> => {
    const charge = { ...pageCharge(), tenant_id: await tenant() };
    const open: Refund = {
      ...newRefund(charge, {}, new Date()),
      amount_minor: 1_000n,
      status: 'processing',
      provider_refund_id: 'rfnd_1',
      submissions: 1,
    };
    const { _id: id } = open;
    await db.collection<Refund>('refunds').insertOne(open);
    return {
      kind: 'refunds.resume',
      target: id,
      method: 'POST',
      path: `/refunds/${id}/resume`,
      body: { reason: 'the card is closed', account_number: '0123456789', bank_code: '058' },
      effects: () => count('refunds', { _id: id, 'customer_account.bank_code': '058' }),
      changeTarget: () =>
        db.collection<Refund>('refunds').updateOne({ _id: id }, { $inc: { submissions: 1 } }),
    };
  };

  /** The return of a payment in suspense. */
  const returned = async (): Promise<PolicyAct> => {
    const tenantId = await tenant();
    const half = paid({ amountMinor: 150_000n });
    const charge = { ...transition(sent(pageCharge()), half).next, tenant_id: tenantId };
    const { _id: id } = charge;
    await db.collection<Charge>('charges').insertOne(charge);
    return {
      kind: 'charges.return',
      target: id,
      method: 'POST',
      path: `/charges/${id}/return`,
      body: { reason: 'the customer asks for it', attempt: 1 },
      effects: () => count('refunds', { charge_id: id, made_by: 'operator' }),
      changeTarget: () =>
        db.collection<Charge>('charges').updateOne({ _id: id }, { $inc: { submissions: 1 } }),
    };
  };

  return {
    credit,
    raise,
    key,
    endpoint,
    refund,
    returned,
    resume,
    forcedFail,
    ...furtherPolicyActs({ deps, tenant, count }),
  };
}
