import { randomUUID } from 'node:crypto';
import { createApiKeys } from '../src/platform/api-keys/store.js';
import type { Config } from '../src/shared/config.js';
import type { Database } from '../src/platform/database/client.js';
import { readClaim } from '../src/core/idempotency/with-idempotency.js';
import type { SavedResponse } from '../src/core/commit/accept.js';
import type { AcceptTransfer } from '../src/capabilities/transfers/mutations.js';
import { creditWallet } from '../src/capabilities/wallets/create.js';
import type { GroupCommit } from '../src/core/commit/group-commit.js';
import { createLog } from '../src/shared/log.js';
import { createTenants } from '../src/platform/tenants/store.js';
import type { Tenant } from '../src/platform/tenants/tenant.js';
import { createTransferCreation } from '../src/capabilities/transfers/create.js';
import type { TransferStarter } from '../src/capabilities/transfers/workflow-starter.js';

/** More than a bench can spend: it measures acceptance, not refusals. */
const BALANCE_MINOR = 1_000_000_000_000_000n;
const RATE_PER_MINUTE = 1_000_000_000;
/** Like a payroll: nearly all name enquiries are answered from the API's cache. */
const RECIPIENTS = 900;

/** The bank pays these accounts at once: their last three digits select no special behaviour. */
const accountOf = (number: number) => `0123456${100 + (number % RECIPIENTS)}`;

/** Makes references unique across processes. */
const run = randomUUID().slice(0, 8);

/** The body of one POST /transfers. */
export const transferBody = (number: number) => ({
  amount_minor: 250_000,
  recipient_account: accountOf(number),
  recipient_bank_code: '058',
  narration: 'Salary for November',
  reference: `SALARY-${run}-${number}`,
  metadata: { employee: `E-${number}` },
});

/** Creates a tenant with a plan of its own, money, and an API key. */
export async function createRichTenant(
  config: Config,
  { db }: Database,
  groupCommit: GroupCommit,
): Promise<{ tenant: Tenant; key: string }> {
  const tenants = createTenants({ db, environment: config.environment });
  const tenant = await tenants.create({
    name: 'Bench',
    plan: 'enterprise',
    ratePerMinute: RATE_PER_MINUTE,
    dailyLimitMinor: BALANCE_MINOR,
  });
  const tenantId = tenant.id;
  await creditWallet(groupCommit, {
    tenantId: tenantId,
    amountMinor: BALANCE_MINOR,
    reference: 'bench',
  });
  const apiKeys = createApiKeys({
    db,
    tenants,
    peppers: config.keyPeppers,
    environment: config.environment,
    log: createLog({ level: 'silent', name: 'bench' }),
  });
  const { key } = await apiKeys.create({ tenantId: tenantId, level: 'write', kind: 'secret' });
  return { tenant, key };
}

/** Makes the mutation of one accepted transfer. */
export type MakeMutation = (tenant: Tenant) => Promise<AcceptTransfer>;

/**
 * Makes the mutations that POST /transfers passes to group commit, by the same code: instead of committing, the last
 * step returns the mutation. Each has its own key, id and reference.
 */
export function createMutationMaker(provider: string): MakeMutation {
  const inputOf = new WeakMap<SavedResponse, AcceptTransfer>();
  let count = 0;
  const create = createTransferCreation({
    // The code uses nothing else of group commit and of the starter.
    groupCommit: {
      async commit(_mutation: unknown, input: AcceptTransfer) {
        inputOf.set(input.answer, input);
        return { kind: 'answered', answer: input.answer, resource: null, replayed: false };
      },
    } as unknown as GroupCommit,
    starter: {} as TransferStarter,
    enquiries: {
      names: async () => [{ kind: 'found', name: 'ADAEZE OKAFOR', bankName: 'GTBank' }],
      countRefused: async () => undefined,
    },
    provider: () => ({ name: provider }),
    intake: { check: () => undefined },
  });
  return async (tenant) => {
    count += 1;
    const body = transferBody(count);
    const claim = readClaim({
      owner: { tenantId: tenant.id, kind: 'secret' },
      method: 'POST',
      path: '/api/v1/transfers',
      header: randomUUID(),
      body,
      now: new Date(),
    });
    const { answer } = await create(tenant, { ...body, currency: 'NGN' }, claim);
    const input = inputOf.get(answer);
    if (!input) throw new Error('no item was made');
    return input;
  };
}
