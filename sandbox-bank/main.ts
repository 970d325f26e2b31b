import { z } from 'zod';
import { startSandboxBank } from './server.js';

const environment = z.object({
  SANDBOX_BANK_PORT: z.coerce.number().int().min(0).max(65_535).default(8090),
  SANDBOX_BANK_HOST: z.string().min(1).default('127.0.0.1'),
  SANDBOX_BANK_DATA: z.string().min(1),
  SANDBOX_BANK_SECRET: z
    .string()
    .transform((list) => list.split(',').map((secret) => secret.trim()))
    .pipe(z.array(z.string().min(16))),
  SANDBOX_BANK_DEDUPLICATE: z.enum(['true', 'false']).default('true'),
  SANDBOX_BANK_DEDUPLICATE_FOR_MS: z.coerce.number().int().positive().optional(),
  SANDBOX_BANK_IDEMPOTENT_FOR_MS: z.coerce.number().int().positive().optional(),
  SANDBOX_BANK_RESEND_SAFETY: z
    .enum(['idempotent', 'conclusive_after', 'fence', 'never'])
    .optional(),
  SANDBOX_BANK_CONCLUSIVE_AFTER_MS: z.coerce.number().int().positive().default(5_000),
  SANDBOX_BANK_PAGES: z.enum(['repeatable', 'new_reference']).default('repeatable'),
  SANDBOX_BANK_ANSWER_WITHIN_MS: z.coerce.number().int().positive().default(2_000),
  SANDBOX_BANK_CARD_BALANCES: z.enum(['issuer', 'ours']).default('issuer'),
  SANDBOX_BANK_CARD_STATE_SEQUENCE: z.enum(['issuer', 'ours']).default('issuer'),
  SANDBOX_BANK_CARD_LOOKUP: z.enum(['reference', 'id']).default('reference'),
  SANDBOX_BANK_CALLBACK_URL: z.url({ protocol: /^https?$/ }).optional(),
  SANDBOX_BANK_CARD_CALLBACK_URL: z.url({ protocol: /^https?$/ }).optional(),
  SANDBOX_BANK_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
});

async function main(): Promise<void> {
  const parsed = environment.safeParse(process.env);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The environment is not usable:\n${lines.join('\n')}`);
  }
  const e = parsed.data;
  const bank = await startSandboxBank({
    port: e.SANDBOX_BANK_PORT,
    host: e.SANDBOX_BANK_HOST,
    dataDir: e.SANDBOX_BANK_DATA,
    secret: e.SANDBOX_BANK_SECRET[0] ?? '',
    earlierSecrets: e.SANDBOX_BANK_SECRET.slice(1),
    deduplicate: e.SANDBOX_BANK_DEDUPLICATE === 'true',
    deduplicateForMs: e.SANDBOX_BANK_IDEMPOTENT_FOR_MS ?? e.SANDBOX_BANK_DEDUPLICATE_FOR_MS ?? null,
    resendSafety: e.SANDBOX_BANK_RESEND_SAFETY ?? null,
    conclusiveAfterMs: e.SANDBOX_BANK_CONCLUSIVE_AFTER_MS,
    pages: e.SANDBOX_BANK_PAGES,
    answerWithinMs: e.SANDBOX_BANK_ANSWER_WITHIN_MS,
    cardBalances: e.SANDBOX_BANK_CARD_BALANCES,
    cardStateSequence: e.SANDBOX_BANK_CARD_STATE_SEQUENCE,
    cardLookup: e.SANDBOX_BANK_CARD_LOOKUP,
    callbackUrl: e.SANDBOX_BANK_CALLBACK_URL ?? null,
    cardCallbackUrl: e.SANDBOX_BANK_CARD_CALLBACK_URL ?? null,
    publicUrl: e.SANDBOX_BANK_PUBLIC_URL ?? null,
  });
  process.stdout.write(`Sandbox bank listening on ${bank.url}\n`);

  const stop = (): void => {
    bank.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the bank did not start'}\n`);
  process.exit(1);
});
