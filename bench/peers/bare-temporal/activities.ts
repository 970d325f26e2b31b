import { cancellationSignal } from '@temporalio/activity';
import { failpoint } from '../../../src/shared/failpoints.js';
import type { TransferProvider } from '../../../src/core/providers/transfer-provider.js';
import { callBank, type PeerTransferBody } from '../call-bank.js';

/** Makes the same HTTP call as Bursar by the same adapter, and dies at the same failpoints. */
export function createPeerActivities(provider: TransferProvider) {
  return {
    async callBank(request: PeerTransferBody) {
      failpoint('submit.permitted');
      const answer = await callBank(provider, request, cancellationSignal());
      failpoint('submit.answered');
      if (answer !== 'succeeded') throw new Error(`the bank answered ${answer}`);
      return answer;
    },
  };
}

/** The activities of the bare workflow. */
export type PeerActivities = ReturnType<typeof createPeerActivities>;
