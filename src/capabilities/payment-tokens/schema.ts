import { z } from 'zod';
import { plainText } from '../../platform/http/wire.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { holdsCardNumber, textOf } from '../../shared/metadata.js';

/** A tenant's own identifier. It is percent-encoded in paths, where `.` and `..` cannot be used in any encoding. */
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
      .meta({ description: 'Where the provider sends receipts.', example: 'ada@example.com' }),
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
 * Refuses a body with a card number or a security code in any field. For `superRefine`; with `ALWAYS`, it is reported
 * beside other invalid fields.
 */
export function refuseCardData(body: unknown, ctx: z.core.$RefinementCtx): void {
  const path = findCardData(body, []);
  if (path !== null) ctx.addIssue({ code: 'custom', path, message: MESSAGE });
}

/** Runs a refinement although other fields are invalid. */
export const ALWAYS = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/**
 * Returns the path of the first card data. If a field's name is itself a card number, the path ends at the object that
 * contains it.
 */
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
