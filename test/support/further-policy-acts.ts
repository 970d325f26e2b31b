import { randomUUID } from 'node:crypto';
import type { Deps } from '../../src/composition/deps.js';
import type { Charge } from '../../src/capabilities/charges/record.js';
import { customerRecordId, type Customer } from '../../src/capabilities/customers/record.js';
import { newDeposit, type Deposit } from '../../src/capabilities/deposits/record.js';
import { disputeId, newDispute, type Dispute } from '../../src/capabilities/disputes/record.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import {
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import { breakId, breaksCollection, type FoundBreak } from '../../src/core/reconciliation/break.js';
import { pageCharge, paid, sent, transition } from './charge-facts.js';
import type { PolicyAct } from './policy-acts.js';
import { pendingTransfer } from './transfers.js';

const reason = 'the tests say so';

type Parts = {
  deps: Deps;
  tenant: () => Promise<string>;
  count: (name: string, filter: object) => Promise<number>;
};

/** A deposit in suspense, as it is stored. */
export function heldDeposit(tenantId: string): Deposit {
  const id = `dep_${randomUUID()}`;
  const given = {
    id,
    tenantId,
    provider: 'sandbox-bank',
    reference: id,
    accountId: null,
    accountNumber: '9000000001',
    amountMinor: 250_000n,
    receivedAt: new Date(),
    via: 'webhook',
    detail: 'reported',
  } as const;
  return { ...newDeposit(given, new Date()), state: 'suspended' };
}

/** Further acts that the policy names, each on a fresh target. */
export const furtherPolicyActs = (parts: Parts) => ({
  ...accountActs(parts),
  ...suspenseActs(parts),
  ...breakActs(parts),
  ...transferActs(parts),
});

function accountActs({ deps, tenant, count }: Parts) {
  const { db } = deps.database;
  return {
    newTenant: async (): Promise<PolicyAct> => {
      const name = `Ada ${randomUUID()}`;
      return {
        kind: 'tenants.create',
        target: name,
        method: 'POST',
        path: '/tenants',
        body: { name, plan: 'sandbox', daily_limit_minor: 9_000_000_000_000 },
        effects: () => count('tenants', { name }),
      };
    },

    rotatedKey: async (): Promise<PolicyAct> => {
      const id = await tenant();
      const given = { tenantId: id, level: 'write', kind: 'secret' } as const;
      const key = await deps.apiKeys.create(given);
      return {
        kind: 'keys.rotate',
        target: key.id,
        method: 'POST',
        path: `/keys/${key.id}/rotate`,
        body: { overlap_hours: 1 },
        effects: async () => (await count('api_keys', { tenant_id: id })) - 1,
      };
    },

    rotatedSecret: async (): Promise<PolicyAct> => {
      const added = await deps.webhooks.endpoints.add(await tenant(), 'http://127.0.0.1:9/hook');
      const id = String(added?.id);
      return {
        kind: 'webhooks.endpoints.rotate',
        target: id,
        method: 'POST',
        path: `/webhooks/endpoints/${id}/rotate`,
        body: { overlap_hours: 1 },
        effects: () => count('webhook_endpoints', { _id: id, 'secrets.1': { $exists: true } }),
      };
    },

    erasure: async (): Promise<PolicyAct> => {
      const [tenantId, now] = [await tenant(), new Date(0)];
      const id = customerRecordId(tenantId, 'customer-1');
      await db.collection<Customer>('customers').insertOne({
        _id: id,
        tenant_id: tenantId,
        version: 1,
        customer_id: 'customer-1',
        email: 'ada@example.com',
        name: 'Ada',
        checks: {},
        kyc_statuses: ['not_started'],
        created_at: now,
        updated_at: now,
      });
      return {
        kind: 'customers.erase',
        target: id,
        method: 'POST',
        path: '/customers/erase',
        body: { tenant: tenantId, customer: 'customer-1', reason },
        effects: () => count('customers', { _id: id, erased_at: { $type: 'date' } }),
      };
    },
  };
}

function suspenseActs({ deps, tenant, count }: Parts) {
  const { db } = deps.database;

  async function activeAccount(tenantId: string): Promise<string> {
    const given = {
      tenantId,
      provider: 'sandbox-bank',
      customer: { id: 'customer-1', email: null, name: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    } as const;
    const made = newVirtualAccount(given, new Date());
    await db.collection<VirtualAccount>('virtual_accounts').insertOne({
      ...made,
      state: 'active',
      status: 'completed',
      account_number: `97${String(Math.random()).slice(2, 10)}`,
      next_check_at: null,
    });
    return made._id;
  }
  return {
    assigned: async (): Promise<PolicyAct> => {
      const tenantId = await tenant();
      const deposit = heldDeposit(tenantId);
      const { _id: id } = deposit;
      const deposits = db.collection<Deposit>('deposits');
      await deposits.insertOne(deposit);
      return {
        kind: 'deposits.assign',
        target: id,
        method: 'POST',
        path: `/deposits/${id}/assign`,
        body: { reason, account: await activeAccount(tenantId) },
        // The wallet and the books do not have the money in suspense.
        fails: true,
        effects: () => count('deposits', { _id: id, state: 'credited' }),
        changeTarget: () => deposits.updateOne({ _id: id }, { $inc: { submissions: 1 } }),
      };
    },

    /** The provider does not answer, so its word does not support it. */
    decided: async (): Promise<PolicyAct> => {
      const charge: Charge = {
        ...transition(sent(pageCharge()), paid({ feeMinor: null })).next,
        tenant_id: await tenant(),
      };
      await db.collection<Charge>('charges').insertOne(charge);
      const own = randomUUID();
      const given = {
        _id: disputeId(charge.provider, own),
        provider_dispute_id: own,
        amount_minor: 100_000n,
        funds: 'with_us',
      } as const;
      const dispute = newDispute(charge, given, new Date());
      const disputes = db.collection<Dispute>('disputes');
      await disputes.insertOne(dispute);
      const id = dispute._id;
      return {
        kind: 'disputes.decide',
        target: id,
        method: 'POST',
        path: `/disputes/${id}/decide`,
        body: { reason, outcome: 'lost' },
        effects: () => count('disputes', { _id: id, status: 'lost' }),
        changeTarget: () => disputes.updateOne({ _id: id }, { $set: { amount_minor: 90_000n } }),
      };
    },
  };
}

function breakActs({ deps, count }: Parts) {
  async function difference(): Promise<string> {
    const found: FoundBreak = {
      kind: 'missing_here',
      source: 'record',
      provider: 'sandbox-bank',
      capability: 'transfers',
      reference: randomUUID(),
      tenantId: null,
      amountMinor: 5_000n,
      difference: 'unknown with us, paid at the bank',
    };
    const { source, provider, reference } = found;
    await deps.breaks.note({ source, provider, references: [reference], found: [found] });
    return breakId(found);
  }
  const name = breaksCollection.name;
  const raise = (id: string) =>
    deps.database.db
      .collection<{ _id: string; amount_minor: bigint }>(name)
      .updateOne({ _id: id }, { $set: { amount_minor: 6_000n } });
  /** The acts that no record shows are in the audit log. */
  const logged = (action: string, more: object) => () => count('audit_log', { action, ...more });
  return {
    asked: async (): Promise<PolicyAct> => {
      const id = await difference();
      return {
        kind: 'breaks.ask',
        target: id,
        method: 'POST',
        path: `/breaks/${id}/ask`,
        body: { reason },
        // No record has its reference.
        fails: true,
        effects: logged('breaks.ask', { target: id }),
        changeTarget: () => raise(id),
      };
    },

    accepted: async (): Promise<PolicyAct> => {
      const id = await difference();
      return {
        kind: 'breaks.close',
        target: id,
        method: 'POST',
        path: `/breaks/${id}/close`,
        body: { reason },
        effects: () => count(name, { _id: id, status: { $ne: 'open' } }),
        changeTarget: () => raise(id),
      };
    },

    applied: async (): Promise<PolicyAct> => {
      const why = randomUUID();
      return {
        kind: 'reconcile.apply',
        target: 'bill-payments',
        method: 'POST',
        path: '/reconciliations',
        body: {
          since: new Date().toISOString(),
          apply: true,
          per_second: 1_000,
          only: ['bill-payments'],
          reason: why,
        },
        effects: logged('reconcile.apply', { reason: why }),
      };
    },
  };
}

/** Commands whose requests come from a workflow, which is not there: the caller stores them. */
function transferActs({ deps, tenant, count }: Parts) {
  const command = (verb: 'complete' | 'retry', body: object) => async (): Promise<PolicyAct> => {
    const transfer = pendingTransfer({ tenant_id: await tenant(), status: 'processing' });
    const { _id: id } = transfer;
    const transfers = deps.database.db.collection<Transfer>('transfers');
    await transfers.insertOne(transfer);
    return {
      kind: `transfers.${verb}`,
      target: id,
      method: 'POST',
      path: `/transfers/${id}/${verb}`,
      body: { reason, ...body },
      fromWorkflow: true,
      effects: () => count('audit_log', { action: `transfers.${verb}`, target: id }),
      changeTarget: () => transfers.updateOne({ _id: id }, { $inc: { submissions: 1 } }),
    };
  };
  return {
    forcedComplete: command('complete', { force: true }),
    absentRetry: command('retry', { absent: true }),
  };
}
