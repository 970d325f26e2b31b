import { z } from 'zod';
import { plainText } from '../../platform/http/wire.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { holdsCardNumber, textOf } from '../../shared/metadata.js';

/** A tenant's own name for something: goes into paths, percent-encoded. Two names are none there, however written. */
export const ownName = (description: string, example: string) =>
  z
    .string()
    .regex(
      /^(?!\.{1,2}$)[\x21-\x7e]{1,100}$/,
      textErrors(100, `${PRINTABLE}, and not be "." or ".."`),
    )
    .meta({ description, example });

/** The tenant's id of a customer. */
export const customerId = ownName('Your own id of the customer.', 'customer-77');

/** The customer in a request. */
export const customerBody = z
  .strictObject({
    id: customerId,
    email: z
      .email()
      .max(254)
      .meta({ description: 'Address for the provider’s receipts.', example: 'ada@example.com' }),
    name: plainText(200).optional(),
  })
  .meta({ id: 'Customer', description: 'The paying customer.' });

/** A customer as it is stored. */
export const customerOf = ({ id, email, name }: z.infer<typeof customerBody>) => ({
  id,
  email,
  name: name ?? null,
});

/** Names of fields that requests must not contain, without case and separators. */
const CARD_FIELDS = new Set(
  [
    'pan cardpan primaryaccountnumber cardnumber cardnum cardno ccnumber ccnum creditcardnumber debitcardnumber',
    'cvv cvv2 cvc cvc2 csc cvn cardcvv cardcvc securitycode cardsecuritycode cardverificationvalue',
    'cardverificationcode cardpin pinblock track1 track2 track1data track2data trackdata',
  ].flatMap((line) => line.split(' ')),
);

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

const MESSAGE = 'must not hold card data: the provider’s page takes the card';

/**
 * Refuses a body that holds anything like a card number or a security code, wherever it is. For `superRefine`, with
 * `ALWAYS`, so that it is said also where other fields are wrong.
 */
export function refuseCardData(body: unknown, ctx: z.core.$RefinementCtx): void {
  const path = findCardData(body, []);
  if (path !== null) ctx.addIssue({ code: 'custom', path, message: MESSAGE });
}

/** Has a refinement run although other fields are invalid. */
export const ALWAYS = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/** The path of the first card data. If a field's name is itself a card number, the path ends at the object that has it. */
function findCardData(value: unknown, path: string[]): string[] | null {
  if (typeof value === 'string' || typeof value === 'number') {
    return holdsCardNumber(textOf(value)) ? path : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, child] of Object.entries(value)) {
    if (holdsCardNumber(name)) return path;
    if (CARD_FIELDS.has(plain(name))) return [...path, name];
    const found = findCardData(child, [...path, name]);
    if (found !== null) return found;
  }
  return null;
}
