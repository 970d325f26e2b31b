import { z } from 'zod';
import type { SubmitAnswer, TransferProvider } from '../../src/core/providers/transfer-provider.js';

/** The body of a peer's POST. */
export const peerTransferBody = z.object({
  reference: z.string().min(1).max(100),
  amount_minor: z.int().positive(),
  recipient_account: z.string().regex(/^\d{10}$/),
  recipient_bank_code: z.string().regex(/^\d{3,6}$/),
  narration: z.string().max(100),
});

export type PeerTransferBody = z.infer<typeof peerTransferBody>;

/** Makes the same HTTP call as Bursar by the same adapter. */
export async function callBank(
  bank: TransferProvider,
  request: PeerTransferBody,
  signal: AbortSignal,
): Promise<SubmitAnswer['kind']> {
  const { reference, recipient_account: account, recipient_bank_code: bankCode } = request;
  const answer = await bank.submit(
    {
      reference,
      clientReference: reference,
      amountMinor: BigInt(request.amount_minor),
      currency: 'NGN',
      recipient: { account, bankCode, name: null },
      narration: request.narration,
      requestedAt: new Date(),
    },
    signal,
  );
  return answer.kind;
}
