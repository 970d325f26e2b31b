import { proxyActivities } from '@temporalio/workflow';
import type { PeerActivities, PeerTransferRequest } from './activities.js';

/** Temporal's default retry policy. */
const bank = proxyActivities<PeerActivities>({ startToCloseTimeout: '20s' });

/** A bare workflow: one activity that calls the bank, and no record beside the history. */
export async function peerTransfer(request: PeerTransferRequest): Promise<string> {
  return bank.callBank(request);
}
