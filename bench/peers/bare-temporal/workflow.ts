import { proxyActivities } from '@temporalio/workflow';
import type { PeerTransferBody } from '../call-bank.js';
import type { PeerActivities } from './activities.js';

/** Temporal's default retry policy. */
const bank = proxyActivities<PeerActivities>({ startToCloseTimeout: '20s' });

/** A bare workflow: one activity that calls the bank, and no record beside the history. */
export async function peerTransfer(request: PeerTransferBody): Promise<string> {
  return bank.callBank(request);
}
