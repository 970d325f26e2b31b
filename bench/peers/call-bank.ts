import { z } from 'zod';
import type { Config } from '../../src/shared/config.js';
import { createProviders } from '../../src/composition/providers.js';
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

/** The bank of a peer, with the time that Bursar waits for its answer. */
export function createPeerBank(config: Config) {
  const bank = createProviders(config).forTransfers();
  const timeoutMs = config.sandboxBank?.timeoutMs ?? 5_000;
  const submit = (request: PeerTransferBody) =>
    callBank(bank, request, AbortSignal.timeout(timeoutMs));
  return {
    submit,
    /** For an engine that repeats a step which throws. */
    async submitOrThrow(request: PeerTransferBody): Promise<'succeeded'> {
      const answer = await submit(request);
      if (answer !== 'succeeded') throw new Error(`the bank answered ${answer}`);
      return answer;
    },
  };
}

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
