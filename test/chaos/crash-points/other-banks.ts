import { elsewhere, PAID, type Case, type Outcome } from './capability.js';
import type { Cluster } from './cluster.js';
import { isRight } from './transfers.js';

/** An account that never answers and pays nothing, and the outcome of its transfer at a bank that cancels. */
const LOST: Outcome = { name: 'lost', suffix: '005', status: 'failed', times: 0 };

/** A transfer while the worker dies: the bank pays as the outcome says, once, and each event is delivered once. */
const transferred = (point: string, outcome: Outcome) => async (own: Cluster) => {
  const id = await own.dies([{ who: 'worker', point }], () => own.tenant.send(outcome.suffix));
  await isRight(own, id, outcome);
  await own.isQuiet();
};

export const otherBanks: Case[] = [
  elsewhere(
    'a transfer whose recipient is prepared: the worker dies at prepare.answered',
    { SANDBOX_BANK_PREPARE: 'true' },
    transferred('prepare.answered', PAID),
  ),
  elsewhere(
    'a lost transfer that is cancelled: the worker dies at cancel.answered',
    { SANDBOX_BANK_RESEND_SAFETY: 'fence' },
    transferred('cancel.answered', LOST),
  ),
];
