import { z } from 'zod';
import { attentionField, failureField } from '../../core/instructions/api-fields.js';
import { amountMinor, daysQuery, pageOrOffsetQuery, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { withPageOrOffset } from '../virtual-accounts/index.js';
import { DEPOSIT_STATES, MATCHES } from './record.js';

const fields = {
  ...pageOrOffsetQuery(),
  status: z.enum(DEPOSIT_STATES).optional(),
  ...daysQuery('the record'),
  sort: z
    .enum(['created_at', '-created_at'])
    .default('-created_at')
    .meta({ description: 'A minus sorts in descending order.' }),
};

/** The query of GET /virtual-accounts/{id}/deposits. */
export const listAccountDepositsQuery = withPageOrOffset(z.strictObject(fields));

/** The query of GET /virtual-accounts/deposits. */
export const listDepositsQuery = withPageOrOffset(
  z.strictObject({
    ...fields,
    session_id: z.string().min(1).max(64).optional(),
    provider_reference: z.string().min(1).max(200).optional(),
  }),
);

/** The validated query of GET /virtual-accounts/deposits. */
export type ListDepositsQuery = z.infer<typeof listDepositsQuery>;

/** The example of the API. A test compares its fields with those of a real response. */
export const exampleDeposit = {
  id: 'dep_01kaj2v6wte8v9kcz0t3yd4m5n',
  virtual_account_id: 'va_01kaj2v6wte8v9kcz0t3yd4m5n',
  amount_minor: 500_000,
  fee_minor: 0,
  currency: 'NGN',
  status: 'credited' as const,
  match: 'unexpected' as const,
  session_id: '999999261121093002000000000042',
  provider_reference: 'dpt_5f1c2a0d9be84c7a3f10',
  provider: 'sandbox-bank',
  sender: { name: 'Ada Obi', account: '******0031', bank: 'Access Bank' },
  narration: 'Transfer from Ada Obi',
  failure: null,
  attention: null,
  received_at: '2026-11-21T09:30:00.000Z',
  created_at: '2026-11-21T09:30:00.100Z',
  credited_at: '2026-11-21T09:30:00.200Z',
  reversed_at: null,
};

/** A deposit, as tenants get it. */
export const depositResource = z
  .object({
    id: idSchema('deposit'),
    virtual_account_id: idSchema('virtualAccount').nullable(),
    amount_minor: amountMinor(
      'Amount in kobo that the sender has paid. While `received`, it is that of the provider’s message, or null. In a currency other than NGN it is in its minor units: such a deposit stays `received`, and nothing is booked.',
    ).nullable(),
    fee_minor: amountMinor('Amount in kobo that the provider keeps of it.'),
    currency: z.string(),
    status: z.enum(DEPOSIT_STATES),
    match: z
      .enum(MATCHES)
      .nullable()
      .meta({
        description:
          '`exact`, `under` and `over` compare with the expected amount. `unexpected`: none was expected. `late`: the ' +
          'account was not active when the money arrived. Null until the provider has confirmed the deposit.',
      }),
    session_id: z.string().nullable(),
    provider_reference: z.string().meta({ description: 'The provider’s id of the deposit.' }),
    provider: z.string(),
    sender: z
      .object({
        name: z.string().nullable(),
        account: z.string().nullable().meta({ description: 'The last digits only.' }),
        bank: z.string().nullable(),
      })
      .nullable(),
    narration: z.string().nullable(),
    failure: failureField,
    attention: attentionField,
    received_at: timestamp('When the money arrived at the provider.'),
    created_at: timestamp('When it was reported to us.'),
    credited_at: timestamp('When it was credited to the wallet.').nullable(),
    reversed_at: timestamp(
      'When the provider took it back, or an operator found that it is not yours.',
    ).nullable(),
  })
  .meta({
    id: 'Deposit',
    description: 'Money that arrived on a virtual account.',
    example: exampleDeposit,
  });
