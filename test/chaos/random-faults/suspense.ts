import {
  movedDepositId,
  UNOWNED,
  type Deposit,
} from '../../../src/capabilities/deposits/record.js';
import type { DepositFact } from '../../../src/capabilities/deposits/transitions.js';
import type { VirtualAccount } from '../../../src/capabilities/virtual-accounts/record.js';
import type { ChaosCluster } from './cluster.js';

const BY = { via: 'operator', actor: null, providerRequestId: null, note: null } as const;

/** Operators who decide about deposits in suspense, as the operator API does. Each act returns whether it was possible. */
export function createSuspense({ service }: Pick<ChaosCluster, 'service'>) {
  const { database, deposits } = service.deps;
  const accounts = database.db.collection<VirtualAccount>('virtual_accounts');
  const stored = database.db.collection<Deposit>('deposits');

  async function decide(deposit: Deposit, fact: DepositFact): Promise<boolean> {
    const result = await deposits.store.applyFact(deposit, fact);
    if (result.kind !== 'fact' || result.verdict !== 'applied') return false;
    if (fact.kind === 'acknowledged') deposits.starter.notifyChangedSoon(result.deposit);
    else if (fact.kind !== 'assigned') deposits.starter.startSoon(result.deposit);
    return true;
  }

  /** An active account of the deposit's tenant, or of another one if that has none. */
  async function anyAccount({ tenant_id: tenantId }: Deposit): Promise<VirtualAccount | null> {
    const active = { state: 'active' } as const;
    return (await accounts.findOne({ tenant_id: tenantId, ...active })) ?? accounts.findOne(active);
  }

  return {
    /** The deposits that wait for a decision. */
    undecided: () => stored.find({ state: 'suspended', attention: { $ne: null } }).toArray(),

    /** The reversed deposits that a wallet could not cover. Credits pay what it owes; an operator has nothing to decide. */
    owed: () =>
      stored.find({ status: 'completed', state: 'reversed', attention: { $ne: null } }).toArray(),

    acknowledge: (deposit: Deposit) =>
      decide(deposit, {
        ...BY,
        instruction: 'confirm',
        kind: 'acknowledged',
        reason: deposit.attention?.reason ?? '',
      }),

    sendBack: (deposit: Deposit) =>
      decide(deposit, { ...BY, instruction: 'return', kind: 'return_ordered' }),

    async assign(deposit: Deposit): Promise<boolean> {
      const account = await anyAccount(deposit);
      if (!account) return false;
      const { _id, tenant_id } = account;
      const to = { id: movedDepositId(deposit._id), tenant_id, virtual_account_id: _id };
      const isOwn = tenant_id === deposit.tenant_id && tenant_id !== UNOWNED;
      return decide(deposit, {
        ...BY,
        instruction: 'confirm',
        ...(isOwn ? { kind: 'assigned', account: _id } : { kind: 'moved', to }),
      });
    },
  };
}
