import { startPaystack } from './server.js';

/** Runs the fake as a process of its own. `PAYSTACK_FAKE_*` are its settings. */
const env = process.env;
const fake = await startPaystack({
  dataDir: env['PAYSTACK_FAKE_DATA'] ?? '.bursar/paystack-fake',
  keys: (env['PAYSTACK_SECRET_KEY'] ?? 'sk_test_inventedkey0000').split(','),
  domain: env['PAYSTACK_FAKE_DOMAIN'] === 'live' ? 'live' : 'test',
  port: Number(env['PAYSTACK_FAKE_PORT'] ?? 8095),
  webhookUrl: env['PAYSTACK_FAKE_WEBHOOK_URL'] ?? null,
});
process.stdout.write(`the fake Paystack listens on ${fake.url}\n`);
const stop = (): void => void fake.close();
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
