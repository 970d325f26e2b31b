import { z } from 'zod';
import { plainText } from '../../platform/http/wire.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';

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
      .meta({ description: 'Where the provider sends receipts.', example: 'ada@example.com' }),
    name: plainText(200).optional(),
  })
  .meta({ id: 'Customer', description: 'Who pays.' });

/** A customer as it is stored. */
export const customerOf = ({ id, email, name }: z.infer<typeof customerBody>) => ({
  id,
  email,
  name: name ?? null,
});
