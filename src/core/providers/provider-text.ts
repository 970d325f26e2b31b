import { withoutUnseen } from '../../platform/http/wire.js';
import { holdsCardNumber } from '../../shared/card-data.js';

/**
 * A provider's free text as it may be stored and shown to tenants: without control, direction and invisible characters. A text
 * with a card number in it has `*` for each digit.
 */
export function providerText(text: string): string {
  const seen = withoutUnseen(text);
  return holdsCardNumber(seen) ? seen.normalize('NFKC').replaceAll(/[0-9]/g, '*') : seen;
}
