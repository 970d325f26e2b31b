import { z } from 'zod';
import { MAX_AMOUNT_MINOR, plainText } from '../../platform/http/wire.js';
import { freeForm, noCardNumber } from '../cards/free-form.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { BELOW_MINIMUM } from '../../platform/tenants/tenant.js';

const amount = z
  .int()
  .min(1, BELOW_MINIMUM)
  .meta({
    description: 'Kobo. These are the bounds of a tenant that has not agreed on others.',
    example: 500_000,
    override: { minimum: 100, maximum: 500_000_000 },
  });

const reference = () =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,100}$/, textErrors(100, PRINTABLE))
    .refine(...noCardNumber)
    .optional();

const fundFields = {
  amount_minor: amount,
  currency: z.literal('NGN').default('NGN'),
  transaction_reference: reference().meta({
    description: 'Your own name for it, unique for ever among the fundings of the card.',
    example: 'top-up-7',
  }),
  reference: reference().meta({
    deprecated: true,
    description: 'Older name of `transaction_reference`.',
    example: 'top-up-7',
  }),
  reason: plainText(200)
    .refine(...noCardNumber)
    .optional()
    .meta({ description: 'Why, for whoever reads it later.' }),
  request_id: reference().meta({ description: 'Your own id of the request.' }),
};

/** The body of a funding. Free-form: what is not known is kept as metadata. */
export const fundBody = freeForm('CardFunding', fundFields).superRefine((body, ctx) => {
  const { transaction_reference: name, reference: older } = body;
  if (name === undefined || older === undefined || name === older) return;
  const message = 'must be left out, or be equal to transaction_reference';
  ctx.addIssue({ code: 'custom', path: ['reference'], message });
});

export type FundBody = z.output<typeof fundBody>;

const minor = (description: string, example: number) =>
  z.int().min(1).max(MAX_AMOUNT_MINOR).meta({ description, example });

/** The body of PUT …/auto-reload, whole. */
export const autoReloadBody = z
  .strictObject({
    enabled: z.boolean(),
    threshold_minor: minor(
      'Kobo. Spending that leaves the card less than this reloads it.',
      100_000,
    ),
    amount_minor: amount,
    daily_cap_minor: minor(
      'Kobo that reloads may take of the wallet on one day (Africa/Lagos); at least one of them.',
      2_000_000,
    ),
  })
  .refine(({ amount_minor, daily_cap_minor }) => daily_cap_minor >= amount_minor, {
    path: ['daily_cap_minor'],
    message: 'must be at least amount_minor',
  })
  .meta({ id: 'CardAutoReloadSettings' });

export type AutoReloadBody = z.output<typeof autoReloadBody>;
