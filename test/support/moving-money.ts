import { acceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { createTransfers } from '../../src/capabilities/transfers/store.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import { audits } from '../../src/composition/capabilities.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import { ApiError } from '../../src/shared/errors.js';
import type { TestDatabase } from './database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from './transfers.js';

/** A fact about a transfer. */
export type Kind = 'succeeded' | 'rejected' | 'reversed' | 'operator_confirmed';

/** Moves money of transfers in a database, without a service. */
export function moneyIn(database: TestDatabase) {
  const transfers = createTransfers(database, createGroupCommit(database), 1_000);
  const problems = async () => (await auditLedger(database, audits)).problems;

  /** Creates a transfer, of a separate tenant or of this one, that has gone through these facts. */
  async function afterOf(tenant: string | null, ...kinds: Kind[]): Promise<Transfer> {
    const id = `${kinds.join('-')}-${Math.random()}`;
    const transfer = pendingTransfer({ _id: id, tenant_id: tenant ?? id, created_at: new Date() });
    const { tenant_id: tenantId, total_minor: amountMinor } = transfer;
    await creditWallet(createGroupCommit(database), { tenantId, amountMinor, reference: id });
    await createGroupCommit(database).commit(acceptTransfer, acceptTransferMutation(transfer));
    for (const kind of kinds) {
      const about = { amountMinor: null, sessionId: 's', code: 'account_closed' };
      await transfers.applyFact(tenantId, id, { ...byProvider, ...about, kind });
    }
    return transfer;
  }

  return {
    after: (...kinds: Kind[]) => afterOf(null, ...kinds),
    problems,

    /** The problems of so many audits during which money has moved. */
    async problemsWhileMoving(count: number): Promise<string[]> {
      const moves = { on: true, made: 0 };
      const move = async (tenant: string, kind: Kind) => {
        while (moves.on) {
          try {
            await afterOf(tenant, kind);
            moves.made += 1;
          } catch (error) {
            // A commit may be refused while the machine is busy. A movement that ended in between must be right too.
            if (error instanceof ApiError && error.status === 503) continue;
            moves.on = false;
            throw error;
          }
        }
      };
      const moving = Promise.all([
        move('moving-1', 'succeeded'),
        move('moving-1', 'rejected'),
        move('moving-2', 'reversed'),
      ]);
      moving.catch(() => {});
      const found: string[] = [];
      for (let audited = 0; audited < count && moves.on;) {
        const { made } = moves;
        found.push(...(await problems()));
        if (moves.made > made) audited += 1;
      }
      moves.on = false;
      await moving;
      return found;
    },
  };
}
