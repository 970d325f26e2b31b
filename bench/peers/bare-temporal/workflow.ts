import { proxyActivities } from '@temporalio/workflow';
import type { PeerActivities, PeerTransferRequest } from './activities.js';

/** Tried again as Temporal does it unless told otherwise. */
const bank = proxyActivities<PeerActivities>({ startToCloseTimeout: '20s' });

/** A bare workflow: one activity that calls the bank, and nothing is kept beside the history. */
export async function peerTransfer(order: PeerTransferRequest): Promise<string> {
  return bank.callBank(order);
}
