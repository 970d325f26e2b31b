import { z } from 'zod';
import { MAX_AMOUNT_MINOR, ownName, plainText, amountMinor } from '../../platform/http/wire.js';
import { freeForm, exampleOperation } from '../cards/index.js';
import { idSchema } from '../../shared/ids.js';
import { attentionField } from '../../core/instructions/api-fields.js';

/** Fundings have no minimum of the tenant, because a card payment may be of any amount. */
export const LEAST_FUNDING_MINOR = 1n;

const amount = z
  .int()
  .min(Number(LEAST_FUNDING_MINOR))
  .meta({
    description: 'Amount in kobo. The maximum is the default; your account may have another.',
    example: 500_000,
    override: { minimum: Number(LEAST_FUNDING_MINOR), maximum: 500_000_000 },
  });

const fundFields = {
  amount_minor: amount,
  currency: z.literal('NGN').default('NGN'),
  transaction_reference: ownName(
    'Your own reference, unique among all fundings of the card.',
    'top-up-7',
  ).optional(),
  reference: ownName('Older name of `transaction_reference`.', 'top-up-7')
    .optional()
    .meta({ deprecated: true }),
  reason: plainText(200).optional().meta({ description: 'The reason for the funding.' }),
  request_id: ownName('Your own id of the request.', 'req-1042').optional(),
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

const SETTINGS = ['threshold_minor', 'amount_minor', 'daily_cap_minor'] as const;

const minor = (description: string, example: number) =>
  z.int().min(1).max(MAX_AMOUNT_MINOR).meta({ description, example });

/**
 * The body of `PUT /cards/{card_id}/auto-reload`. It replaces all settings. `{ enabled: false }` alone switches it off and
 * keeps the others.
 */
export const autoReloadBody = z
  .strictObject({
    enabled: z.boolean(),
    threshold_minor: minor(
      'Threshold in kobo. A payment that leaves a lower balance starts a reload.',
      100_000,
    ).optional(),
    amount_minor: amount.optional(),
    daily_cap_minor: minor(
      'Highest sum in kobo of the reloads of one day in Africa/Lagos. At least `amount_minor`.',
      2_000_000,
    ).optional(),
  })
  .superRefine((body, ctx) => {
    const given = SETTINGS.filter((name) => body[name] !== undefined);
    const isOffAlone = !body.enabled && given.length === 0;
    const missing = isOffAlone ? [] : SETTINGS.filter((name) => body[name] === undefined);
    for (const name of missing) {
      ctx.addIssue({ code: 'custom', path: [name], message: 'is required' });
    }
    if (Number(body.daily_cap_minor) < Number(body.amount_minor)) {
      const message = 'must be at least amount_minor';
      ctx.addIssue({ code: 'custom', path: ['daily_cap_minor'], message });
    }
  })
  .meta({
    id: 'CardAutoReloadSettings',
    description:
      'All four fields, or `{"enabled": false}` alone, which keeps the other settings for later.',
    override: {
      anyOf: [
        { required: ['enabled', ...SETTINGS] },
        { properties: { enabled: { const: false } }, maxProperties: 1 },
      ],
    },
  });

/** The validated body of `PUT /cards/{card_id}/auto-reload`. */
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
