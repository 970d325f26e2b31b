import { createHash, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection, Document } from 'mongodb';
import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { customerRecordId, type Customer } from '../../src/capabilities/customers/record.js';
import type { Deposit } from '../../src/capabilities/deposits/record.js';
import type { Dispute } from '../../src/capabilities/disputes/record.js';
import type { RecurringCharge } from '../../src/capabilities/recurring-charges/record.js';
import { breakId, type FoundBreak } from '../../src/core/reconciliation/break.js';
import { cardClient } from './cards.js';
import { deadDelivery, failedEvent } from './dead-letters.js';
import { eventually } from './eventually.js';
import { fixtures, fixtureOf } from './fixtures.js';
import type { PolicyAct, startPolicyApi } from './policy-acts.js';
import { recurringCharge } from './recurring.js';
import type { Service } from './service.js';
import type { TestTenant } from './tenant.js';
import { suspendedDeposit } from './virtual-accounts.js';

type Parts = {
  service: Service;
  api: Awaited<ReturnType<typeof startPolicyApi>>;
  tenant: TestTenant;
};

/** The path parameters and the body of a request for an act. `status`: that of the answer, if it is not 200. */
export type ActRequest = { params?: Record<string, string>; body?: object; status?: number };

/** The actions that an act leaves in the audit log, in their order, and a function that makes its target. */
export type ActRow = [actions: string[], prepare: () => Promise<ActRequest> | ActRequest];

const reason = 'the tests say so';
const withReason = { body: { reason } };
/** An act that waits for a second person, whom the caller plays. */
const approved = (action: string) => [
  'approvals.request',
  'approvals.approve',
  action,
  'approvals.close',
];

/** Every act of the operator API but the commands for instructions, by the id of its operation and the change it names. */
export const actRows = (parts: Parts): Record<string, ActRow> => ({
  ...accountRows(parts),
  ...tenantRows(parts),
  ...policyRows(parts),
  ...cardRows(parts),
  ...disputeRows(parts),
  ...webhookRows(parts),
  ...recurringRows(parts),
  ...bookRows(parts),
  ...statementRows(parts),
});

/** The parameter and the body of an act of test/support/policy-acts.ts. */
const asRequest = async (made: Promise<PolicyAct>, name = 'id'): Promise<ActRequest> => {
  const { path, body } = await made;
  return { params: { [name]: String(path.split('/')[2]) }, body };
};

/** The id of a record that a fixture makes. */
const made = (path: string, { service, tenant }: Pick<Parts, 'service' | 'tenant'>) =>
  fixtureOf(fixtures, path, path)(tenant, {}, service);

const attention = { since: new Date(0), reason: 'the tests say so' };

const policyRows = ({ api: { acts } }: Parts): Record<string, ActRow> => ({
  creditWallet: [['wallets.credit'], () => asRequest(acts.credit(), 'tenant')],
  updateTenant: [['tenants.update'], () => asRequest(acts.raise())],
  createKey: [['keys.create'], () => asRequest(acts.key())],
  addEndpoint: [['webhooks.endpoints.add'], () => asRequest(acts.endpoint())],
  returnDeposit: [['deposits.return'], () => asRequest(acts.refund())],
  returnPayment: [['charges.return'], () => asRequest(acts.returned())],
  resumeRefund: [['refunds.resume'], () => asRequest(acts.resume())],
});

function accountRows({ api: { deps, person } }: Parts): Record<string, ActRow> {
  const another = async () => ({ params: { id: (await person('viewer')).id } });

  /** A request of another person for a credit. */
  async function request(): Promise<ActRequest> {
    const { id: tenant } = await deps.tenants.create({ name: 'Ada', plan: 'sandbox' });
    const body = { amount_minor: 700, reference: 'r1', reason };
    const maker = await person('operator');
    const act = {
      id: randomUUID(),
      actor: { operator: maker.id, name: 'Ada', roles: ['operator'] },
      action: 'wallets.credit',
      target: `${tenant}/r1`,
      tenantId: tenant,
      reason,
      requestId: null,
      approval: null,
    };
    const evidence = 'the test says so';
    const input = { params: { tenant }, body };
    const asked = await deps.approvals.request(act, { target_state: null, evidence, input });
    return { params: { id: asked._id }, ...withReason };
  }
  const email = `${randomUUID()}@tests.invalid`;
  return {
    approveApproval: [['approvals.approve', 'wallets.credit', 'approvals.close'], request],
    rejectApproval: [['approvals.reject'], request],
    createOperator: [
      ['operators.create'],
      () => ({ body: { name: 'Bayo', email, roles: ['viewer'] } }),
    ],
    updateOperator: [
      ['operators.update'],
      async () => ({ ...(await another()), body: { disabled: true } }),
    ],
    createOperatorKey: [['operators.keys.create'], another],
    revokeOperatorKey: [
      ['operators.keys.revoke'],
      async () => {
        const [key] = await deps.operators.listKeys((await another()).params.id);
        return { params: { id: String(key?._id) } };
      },
    ],
  };
}

function tenantRows({ api: { deps }, service, tenant }: Parts): Record<string, ActRow> {
  const { db } = service.deps.database;
  const own = async () => (await deps.tenants.create({ name: 'Ada', plan: 'sandbox' })).id;
  const ofTenant = async () => ({ params: { id: await own() }, ...withReason });
  const key = async () => {
    const given = { tenantId: await own(), level: 'write', kind: 'secret' } as const;
    return { params: { id: (await deps.apiKeys.create(given)).id } };
  };
  const customer = async () => {
    const [tenantId, now] = [await own(), new Date(0)];
    const record: Customer = {
      _id: customerRecordId(tenantId, 'customer-1'),
      tenant_id: tenantId,
      version: 1,
      customer_id: 'customer-1',
      email: 'ada@example.com',
      name: 'Ada',
      checks: {},
      kyc_statuses: ['not_started'],
      created_at: now,
      updated_at: now,
    };
    await db.collection<Customer>('customers').insertOne(record);
    return { body: { tenant: tenantId, customer: 'customer-1', reason } };
  };
  return {
    createTenant: [['tenants.create'], () => ({ body: { name: 'Ada', plan: 'sandbox' } })],
    'freezeTenant freeze': [['tenants.freeze'], ofTenant],
    'freezeTenant unfreeze': [['tenants.unfreeze'], ofTenant],
    rotateKey: [['keys.rotate'], async () => ({ ...(await key()), body: { overlap_hours: 1 } })],
    revokeKey: [['keys.revoke'], key],
    eraseCustomer: [['customers.erase'], customer],
    assignDeposit: [
      ['deposits.assign'],
      async () => ({
        params: { id: (await suspendedDeposit({ service, tenant }, 30_000))._id },
        body: { reason, account: await made('/virtual-accounts/{id}', { service, tenant }) },
      }),
    ],
    acknowledgeDeposit: [
      ['deposits.acknowledge'],
      async () => {
        const path = '/virtual-accounts/deposits/{deposit_id}';
        const id = await made(path, { service, tenant });
        await db
          .collection<Deposit>('deposits')
          .updateOne({ _id: id, tenant_id: tenant.id }, { $set: { attention } });
        return { params: { id }, ...withReason };
      },
    ],
  };
}

function cardRows({ service, tenant }: Parts): Record<string, ActRow> {
  const { deps } = service;
  const { db } = deps.database;
  const cards = cardClient(tenant);
  const issued = async () => ({ params: { id: (await cards.issue()).id }, ...withReason });

  /** A card that is locked by an operator. */
  async function locked() {
    const request = await issued();
    const card = await deps.cards.store.find(request.params.id);
    if (!card) throw new Error('there is no card');
    await deps.cardStates.setOperatorLock(card, { actor: 'ada', reason });
    return request;
  }

  /** A closed card whose balance the issuer has not given back. */
  async function notUnloaded() {
    const request = await issued();
    const { id } = request.params;
    const { body } = await cards.act(id, 'fund', { amount_minor: 5_000 });
    await cards.waitForOperation(id, body.data.id, 'completed');
    await cards.act(id, 'close', { transaction_reference: `rest-${randomUUID()}-002` });
    const unloads: Collection<CardOperation> = db.collection('card_operations');
    const failed = { card_id: id, tenant_id: tenant.id, type: 'unload', status: 'failed' } as const;
    await eventually('its unloading has failed', async () =>
      (await unloads.countDocuments(failed)) === 1 ? true : undefined,
    );
    return request;
  }
  return {
    lockCard: [['cards.lock'], issued],
    unlockCard: [['cards.unlock'], locked],
    unloadCard: [['cards.unload'], notUnloaded],
    verifyAuthorization: [
      ['card-authorizations.verify'],
      async () => {
        const id = await made('/cards/authorizations/{id}', { service, tenant });
        return { params: { id }, ...withReason };
      },
    ],
    acknowledgeAuthorization: [
      ['card-authorizations.acknowledge'],
      async () => {
        const id = await made('/cards/authorizations/{id}', { service, tenant });
        await db
          .collection<CardAuthorization>('card_authorizations')
          .updateOne({ _id: id, tenant_id: tenant.id }, { $set: { attention } });
        return { params: { id }, ...withReason };
      },
    ],
  };
}

function disputeRows({ service }: Parts): Record<string, ActRow> {
  /** A dispute with a report that contradicts it. */
  async function contradicted() {
    const tenant = await service.tenant();
    const id = await made('/payments/disputes/{id}', { service, tenant });
    await service.deps.database.db
      .collection<Dispute>('disputes')
      .updateOne({ _id: id, tenant_id: tenant.id }, { $set: { attention } });
    return { params: { id }, ...withReason };
  }
  return {
    acknowledgeDispute: [['disputes.acknowledge'], contradicted],
    decideDispute: [
      approved('disputes.decide'),
      async () => ({ ...(await contradicted()), body: { reason, outcome: 'lost' } }),
    ],
  };
}

function webhookRows({ api: { deps, acts } }: Parts): Record<string, ActRow> {
  const endpoint = async () => {
    const added = await deps.webhooks.endpoints.add(
      (await acts.endpoint()).target,
      'http://127.0.0.1:9/hook',
    );
    return { params: { id: String(added?.id) } };
  };

  const given = async (of: 'event' | 'delivery') => {
    const { [of]: id } = await deadDelivery(deps, (await acts.endpoint()).target);
    return { params: { id } };
  };
  const type = 'transfer.of_no_adapter';
  return {
    rotateEndpoint: [
      ['webhooks.endpoints.rotate'],
      async () => ({ ...(await endpoint()), body: { overlap_hours: 1 } }),
    ],
    updateEndpoint: [
      ['webhooks.endpoints.update'],
      async () => ({ ...(await endpoint()), body: { events: ['transfer.*'] } }),
    ],
    'changeEndpoint remove': [['webhooks.endpoints.remove'], endpoint],
    'changeEndpoint disable': [['webhooks.endpoints.disable'], endpoint],
    'changeEndpoint enable': [['webhooks.endpoints.enable'], endpoint],
    'changeEndpoint resume': [['webhooks.endpoints.resume'], endpoint],
    pingEndpoint: [['webhooks.endpoints.ping'], endpoint],
    redeliver: [['webhooks.deliveries.redeliver'], () => given('delivery')],
    replayEvent: [['webhooks.events.replay'], () => given('event')],
    replayProviderEvent: [
      ['provider-events.replay'],
      async () => ({ params: { id: await failedEvent(deps, 'transfer.unheard_of') } }),
    ],
    replayProviderEvents: [
      ['provider-events.replay', 'provider-events.replay'],
      async () => {
        await failedEvent(deps, type);
        await failedEvent(deps, type);
        return { body: { type } };
      },
    ],
  };
}

function recurringRows({ api: { acts }, service }: Parts): Record<string, ActRow> {
  const recurring = async (changes: Partial<RecurringCharge> = {}) => {
    const { target: tenantId } = await acts.endpoint();
    const later = new Date(Date.now() + 86_400_000);
    const times = { start_at: later, next_charge_at: later, next_check_at: later };
    const record = recurringCharge({ tenant_id: tenantId, ...times, ...changes });
    await service.deps.database.db
      .collection<RecurringCharge>('recurring_charges')
      .insertOne(record);
    return { params: { id: record._id } };
  };
  return {
    'changeRecurring pause': [['recurring-charges.pause'], () => recurring()],
    'changeRecurring resume': [
      ['recurring-charges.resume'],
      () => recurring({ status: 'paused', paused_at: new Date() }),
    ],
    'changeRecurring cancel': [['recurring-charges.cancel'], () => recurring()],
  };
}

function bookRows({ api: { deps }, service }: Parts): Record<string, ActRow> {
  const { db } = service.deps.database;

  /** A difference with a provider. */
  async function difference() {
    const found: FoundBreak = {
      kind: 'missing_here',
      source: 'record',
      provider: 'sandbox-bank',
      capability: 'transfers',
      reference: randomUUID(),
      tenantId: null,
      amountMinor: 1_000n,
      difference: 'unknown with us, paid at the bank',
    };
    const { source, provider, reference } = found;
    await deps.breaks.note({ source, provider, references: [reference], found: [found] });
    return { params: { id: breakId(found) }, ...withReason };
  }
  return {
    // No record has its reference; the attempt is in the log.
    askAboutBreak: [['breaks.ask'], async () => ({ ...(await difference()), status: 422 })],
    closeBreak: [['breaks.close'], difference],
    reconcileRecords: [
      ['reconcile.apply'],
      () => {
        const since = new Date().toISOString();
        return { body: { since, apply: true, per_second: 100, only: ['transfers'] } };
      },
    ],
    closeLedger: [['ledger.close'], () => ({})],
    archiveLedger: [
      ['ledger.archive'],
      () => ({ body: { to: join(tmpdir(), randomUUID()), before: '2020-01-01' } }),
    ],
    resumeProvider: [
      ['providers.resume'],
      async () => {
        // A word stops nothing, and lasts until an operator ends it.
        await deps.providerFaults.reportWord('sandbox-bank', 'quite_new');
        return { params: { provider: 'sandbox-bank' } };
      },
    ],
    rotateSecrets: [
      ['secrets.rotate', 'secrets.retire'],
      async () => {
        const unused = { check: 'x', sealing_at: new Date(0), retired_at: null };
        const keys: Collection<Document & { _id: string }> = db.collection('sealing_keys');
        await keys.insertOne({ _id: `key-${randomUUID()}`, ...unused });
        return {};
      },
    ],
  };
}

function statementRows({ api: { deps } }: Parts): Record<string, ActRow> {
  const [from, to] = [new Date('2026-01-01'), new Date('2026-01-02')];
  const digest = () => createHash('sha256').update(randomUUID()).digest('hex');
  const begun = async () => {
    const given = { provider: 'sandbox-bank', name: 'of the tests', digest: digest(), from, to };
    const run = await deps.statements.begin({ ...given, order: 'oldest_first', slackMs: 0 });
    return run._id;
  };
  const window = { from: from.toISOString(), to: to.toISOString() };
  return {
    beginStatement: [
      ['statements.import'],
      () => {
        const given = { provider: 'sandbox-bank', name: 'of the tests', sha256: digest() };
        return { body: { ...given, order: 'oldest_first', has_times: true } };
      },
    ],
    addStatementRows: [
      ['statements.rows'],
      async () => ({ params: { id: await begun() }, body: { rows: [], last: true } }),
    ],
    matchStatement: [
      ['statements.match'],
      async () => {
        const id = await begun();
        await deps.statements.add(id, [], { isLast: true });
        return { params: { id } };
      },
    ],
    pullStatement: [
      ['statements.pull'],
      () => ({ body: { provider: 'sandbox-bank', ...window, per_second: 100 } }),
    ],
  };
}
