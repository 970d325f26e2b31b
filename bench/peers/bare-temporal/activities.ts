import { cancellationSignal } from '@temporalio/activity';
import { failpoint } from '../../../src/shared/failpoints.js';
import type { TransferProvider } from '../../../src/core/providers/transfer-provider.js';

/** The input of the bare workflow. */
export type PeerTransferRequest = {
  reference: string;
  amountMinor: number;
  account: string;
  bankCode: string;
  narration: string;
};

/** Makes the same HTTP call as Bursar by the same adapter, and dies at the same failpoints. */
export function createPeerActivities(provider: TransferProvider) {
  return {
    async callBank({ reference, amountMinor, account, bankCode, narration }: PeerTransferRequest) {
      failpoint('submit.permitted');
      const answer = await provider.submit(
        {
          reference,
          clientReference: reference,
          amountMinor: BigInt(amountMinor),
          currency: 'NGN',
          recipient: { account, bankCode, name: null },
          narration,
          requestedAt: new Date(),
        },
        cancellationSignal(),
      );
      failpoint('submit.answered');
      if (answer.kind !== 'succeeded') throw new Error(`the bank answered ${answer.kind}`);
      return answer.kind;
    },
  };
}

/** The activities of the bare workflow. */
export type PeerActivities = ReturnType<typeof createPeerActivities>;
