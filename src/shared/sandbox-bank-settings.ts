import { z } from 'zod';
import { flag, milliseconds } from './setting-types.js';

const bankSecrets = z
  .string()
  .transform((list) => list.split(',').map((secret) => secret.trim()))
  .pipe(z.array(z.string().min(16)));

/** The settings of the sandbox bank. Those with (*) are set for its own process too. */
export const sandboxBankFields = {
  BURSAR_LIVE_REHEARSAL: flag(false).describe(
    'allows live with the sandbox bank, which moves no money',
  ),
  SANDBOX_BANK_URL: z
    .url()
    .default('http://127.0.0.1:8090')
    .describe('address of the sandbox bank'),
  SANDBOX_BANK_SECRET: bankSecrets
    .optional()
    .describe(
      'secrets of at least 16 characters, separated by commas: the first authenticates the service to the sandbox bank, all of them verify its callbacks. Needed where the sandbox bank serves a capability',
    ),
  SANDBOX_BANK_DEDUPLICATE: flag(true).describe('the bank is idempotent (*)'),
  SANDBOX_BANK_DEDUPLICATE_FOR_MS: milliseconds
    .optional()
    .describe('end of the bank’s idempotency after a request; without it, it does not end (*)'),
  SANDBOX_BANK_IDEMPOTENT_FOR_MS: milliseconds
    .optional()
    .describe('another name of `SANDBOX_BANK_DEDUPLICATE_FOR_MS`, which it precedes (*)'),
  SANDBOX_BANK_CONCLUSIVE_AFTER_MS: milliseconds
    .default(5_000)
    .describe('time after which "not found" is conclusive, if the bank is not idempotent (*)'),
  SANDBOX_BANK_RESEND_SAFETY: z
    .enum(['idempotent', 'conclusive_after', 'fence', 'never'])
    .optional()
    .describe('replaces the resend safety that the settings above give (*)'),
  SANDBOX_BANK_PREPARE: flag(false).describe(
    'recipients are prepared before a transfer, and saved methods before a charge; `npm start` sets it',
  ),
  SANDBOX_BANK_CARD_BALANCES: z
    .enum(['issuer', 'ours'])
    .default('issuer')
    .describe('side that holds the balances of cards (*)'),
  SANDBOX_BANK_PAGES: z
    .enum(['repeatable', 'new_reference'])
    .default('repeatable')
    .describe('`new_reference`: the bank gives the address of a page once (*)'),
  SANDBOX_BANK_CARD_STATE_SEQUENCE: z
    .enum(['issuer', 'ours'])
    .default('issuer')
    .describe('side that orders the changes of a card’s state (*)'),
  SANDBOX_BANK_CARD_LOOKUP: z
    .enum(['reference', 'id'])
    .default('reference')
    .describe('`id`: the issuer finds cards, fundings and disputes by its own ids alone (*)'),
  SANDBOX_BANK_TIMEOUT_MS: milliseconds.max(10_000).default(5_000).describe('bound of one call'),
  SANDBOX_BANK_CALLS_PER_SECOND: z.coerce
    .number()
    .positive()
    .default(1_000)
    .describe('rate of calls, over all workers'),
  SANDBOX_BANK_SUBMISSIONS_PER_SECOND: z.coerce
    .number()
    .positive()
    .optional()
    .describe(
      'rate of submissions of transfers, beside that of all other calls; without it, all calls have one rate',
    ),
};
