import { z } from 'zod';
import { MAX_AMOUNT_MINOR, plainText, amountMinor } from '../../platform/http/wire.js';
import { freeForm, noCardNumber, exampleOperation } from '../cards/schema.js';
import { idSchema } from '../../shared/ids.js';
import { attentionField } from '../../core/instructions/api-fields.js';

const amount = z
  .int()
  .min(1)
  .meta({
    description: 'Kobo. These are the bounds of a tenant that has not agreed on others.',
    example: 500_000,
    override: { minimum: 100, maximum: 500_000_000 },
  });

const reference = () =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters without spaces')
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
  const message = 'differs from transaction_reference, of which it is an older name';
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

export const exampleSettings = {
  enabled: true,
  threshold_minor: 100_000,
  amount_minor: 500_000,
  daily_cap_minor: 2_000_000,
};

export const autoReloadResource = z
  .object({
    card_id: idSchema('card'),
    enabled: z.boolean(),
    threshold_minor: amountMinor('Kobo; null before the settings are put.').nullable(),
    amount_minor: amountMinor('Kobo of one reload.').nullable(),
    daily_cap_minor: amountMinor('Kobo of one day, Africa/Lagos.').nullable(),
    used_today_minor: amountMinor('Kobo that reloads have taken today.'),
    operation_id: idSchema('cardOperation')
      .nullable()
      .meta({ description: 'The reload that is under way.' }),
    refusals: z.int().min(0).meta({ description: 'Reloads refused in a row.' }),
    attention: attentionField.meta({
      description: 'Why it is not tried any more until the settings are put again.',
    }),
  })
  .meta({
    id: 'CardAutoReload',
    example: {
      card_id: exampleOperation.card_id,
      ...exampleSettings,
      used_today_minor: 500_000,
      operation_id: null,
      refusals: 0,
      attention: null,
    },
  });
