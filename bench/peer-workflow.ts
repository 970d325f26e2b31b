import { proxyActivities } from '@temporalio/workflow';
import type { PeerActivities, PeerOrder } from './peer-activities.js';

const bank = proxyActivities<PeerActivities>({
  startToCloseTimeout: '20s',
  retry: { maximumAttempts: 1 },
});

/** A bare workflow: one activity that calls the bank, and nothing is kept. */
export async function peerTransfer(order: PeerOrder): Promise<string> {
  return bank.callBank(order);
}
