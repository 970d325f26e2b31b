import { z } from 'zod';
import { MAX_AMOUNT_MINOR, plainText, amountMinor } from '../../platform/http/wire.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';
import { BELOW_MINIMUM } from '../../platform/tenants/tenant.js';
import { freeForm, noCardNumber, exampleOperation } from '../cards/index.js';
import { idSchema } from '../../shared/ids.js';
import { attentionField } from '../../core/instructions/api-fields.js';

const amount = z
  .int()
  .min(1, BELOW_MINIMUM)
  .meta({
    description: 'Amount in kobo. The bounds are the defaults; your account may have others.',
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
    description: 'Your own reference, unique among all fundings of the card.',
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
    .meta({ description: 'The reason for the funding.' }),
  request_id: reference().meta({ description: 'Your own id of the request.' }),
};

/** The body of a funding. Unknown fields are kept as metadata. */
export const fundBody = freeForm('CardFunding', fundFields).superRefine((body, ctx) => {
  const { transaction_reference: name, reference: older } = body;
  if (name === undefined || older === undefined || name === older) return;
  const message = 'must be left out, or be equal to transaction_reference';
  ctx.addIssue({ code: 'custom', path: ['reference'], message });
});

/** The validated body of a funding. */
export type FundBody = z.output<typeof fundBody>;

const minor = (description: string, example: number) =>
  z.int().min(1).max(MAX_AMOUNT_MINOR).meta({ description, example });

/** The body of `PUT /cards/{id}/auto-reload`. It replaces all settings. */
export const autoReloadBody = z
  .strictObject({
    enabled: z.boolean(),
    threshold_minor: minor(
      'Threshold in kobo. A payment that leaves a lower balance starts a reload.',
      100_000,
    ),
    amount_minor: amount,
    daily_cap_minor: minor(
      'Highest sum in kobo of the reloads of one day in Africa/Lagos. At least `amount_minor`.',
      2_000_000,
    ),
  })
  .refine(({ amount_minor, daily_cap_minor }) => daily_cap_minor >= amount_minor, {
    path: ['daily_cap_minor'],
    message: 'must be at least amount_minor',
  })
  .meta({ id: 'CardAutoReloadSettings' });

/** The validated body of `PUT /cards/{id}/auto-reload`. */
export type AutoReloadBody = z.output<typeof autoReloadBody>;

/** The settings in the examples of the API reference. */
export const exampleSettings = {
  enabled: true,
  threshold_minor: 100_000,
  amount_minor: 500_000,
  daily_cap_minor: 2_000_000,
};

/** The auto-reload settings of a card in answers. */
export const autoReloadResource = z
  .object({
    card_id: idSchema('card'),
    enabled: z.boolean(),
    threshold_minor: amountMinor(
      'Threshold in kobo; null until the settings are saved.',
    ).nullable(),
    amount_minor: amountMinor('Amount in kobo of one reload.').nullable(),
    daily_cap_minor: amountMinor(
      'Highest sum in kobo of the reloads of one day in Africa/Lagos.',
    ).nullable(),
    used_today_minor: amountMinor('Sum in kobo of the reloads of today.'),
    operation_id: idSchema('cardOperation')
      .nullable()
      .meta({ description: 'Id of the open reload; null without one.' }),
    refusals: z.int().min(0).meta({ description: 'The number of consecutive refusals.' }),
    attention: attentionField.meta({
      description: 'The reason for which no reload is tried until the settings are saved again.',
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
