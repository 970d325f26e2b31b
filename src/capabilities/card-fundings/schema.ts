import { z } from 'zod';
import { amountMinor, ownName, plainText } from '../../platform/http/wire.js';
import { exampleOperation, exampleSettings, freeForm, fundingAmount } from '../cards/index.js';
import { idSchema } from '../../shared/ids.js';
import { attentionField } from '../../core/instructions/api-fields.js';

const fundFields = {
  amount_minor: fundingAmount,
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
export const fundBody = freeForm('NewFunding', fundFields).superRefine((body, ctx) => {
  const { transaction_reference: name, reference: older } = body;
  if (name === undefined || older === undefined || name === older) return;
  const message = 'must be left out, or be equal to transaction_reference';
  ctx.addIssue({ code: 'custom', path: ['reference'], message });
});

/** The validated body of a funding. */
export type FundBody = z.output<typeof fundBody>;

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
    description: 'The automatic funding of a card whose balance is low.',
    example: {
      card_id: exampleOperation.card_id,
      ...exampleSettings,
      used_today_minor: 500_000,
      operation_id: null,
      refusals: 0,
      attention: null,
    },
  });
