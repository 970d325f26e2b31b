import type { CardAuthorization } from '../../../../src/capabilities/card-authorizations/record.js';
import { eventually } from '../../../support/eventually.js';
import { issuerClient } from '../../../support/issuer.js';
import type { ChaosCluster } from '../cluster.js';

const AMOUNT_MINOR = 2_000;

/**
 * Payments before the first fault, so that even a short run has them: one is cleared in two parts, and one is cleared with so much
 * more than was approved that the card cannot pay it alone, and refunded in full.
 */
export async function makeFirstPayments(
  { service }: Pick<ChaosCluster, 'service'>,
  card: string,
  onCardMinor: number,
): Promise<void> {
  const issuer = issuerClient(service);
  const stored = service.deps.database.db.collection<CardAuthorization>('card_authorizations');

  /** Pays as soon as the card has money; returns the issuer's token of the payment. */
  const pay = () =>
    eventually('a payment before the random-fault run', async () => {
      const { approved, token } = await issuer.pay(card, { amount_minor: AMOUNT_MINOR });
      return approved ? token : undefined;
    });

  /** Clears an amount, and waits until it is booked: a later report that came first would hide what this one does. */
  async function clear(token: string, minor: number, final: boolean): Promise<void> {
    await issuer.end(token, 'cleared', minor, { final });
    await eventually('a clearing before the random-fault run', async () => {
      const isCleared = ({ kind, amount_minor: amount }: CardAuthorization['facts'][number]) =>
        kind === 'cleared' && amount === BigInt(minor);
      return (await stored.findOne({ token }))?.facts.some(isCleared) || undefined;
    });
  }

  const inParts = await pay();
  await clear(inParts, AMOUNT_MINOR / 4, false);
  await clear(inParts, AMOUNT_MINOR - AMOUNT_MINOR / 4, true);
  const beyond = await pay();
  const overMinor = onCardMinor + 20_000;
  await clear(beyond, overMinor, true);
  await issuer.end(beyond, 'refunded', overMinor);
}
