import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { createMongoClient } from '../../platform/database/client.js';
import { providerFaultsCollection, type ProviderFault } from '../../core/providers/faults.js';
import { createProviderHttp } from '../../core/providers/http.js';
import { readBalance } from '../../core/providers/paystack/transfer-calls.js';
import { readEnvelope } from '../../core/providers/paystack/envelope.js';
import type { Config } from '../../shared/config.js';
import { formatMajor } from '../../shared/money.js';
import type { PaystackSettings } from '../../shared/paystack-settings.js';
import { duration, examine, fail, pass, type Check } from './check.js';

const ADDRESS = '/api/v1/webhooks/payments/paystack';
const TOLERANCE_MS = 30_000;
const WITHIN_MS = 4_000;
const KEY_HINT =
  'copy the secret key of this mode from the dashboard into PAYSTACK_SECRET_KEY, and check that the list of allowed IP addresses there (API Keys & Webhooks) is empty or has the addresses of this service';
const OTP_HINT =
  'turn off *Confirm transfers before sending* at Paystack (Settings, Preferences), then `bursar providers resume paystack`';
const PRIVILEGE_HINT = 'give the key the privileges for transfers, charges and refunds at Paystack';
const CALLBACKS_HINT = `set the webhook address at Paystack to https://<this API>${ADDRESS}`;

/** Checks Paystack, if it is configured: its key, our balance, its clock, and the arrival of its messages. */
export async function examinePaystack(config: Config): Promise<Check[]> {
  const { paystack } = config;
  if (!paystack) return [];
  const asked = ask(paystack, '/balance');
  return Promise.all([
    examine('paystack: key', KEY_HINT, () => examineKey(paystack, asked)),
    examine('paystack: OTP', OTP_HINT, () => examineOtp(config)),
    examine('paystack: float', 'top the balance up at Paystack', () =>
      examineFloat(paystack, asked),
    ),
    examine('paystack: clock', 'synchronize the clock of this machine', () => examineClock(asked)),
    examine('paystack: callbacks', CALLBACKS_HINT, () => examineCallbacks(config)),
  ]);
}

type Asked = ReturnType<typeof ask>;

/** A question moves no money, needs the key, and its answer comes with Paystack's time. */
async function ask({ url, keys, timeoutMs }: PaystackSettings, path: string) {
  const headers = { authorization: `Bearer ${keys[0] ?? ''}` };
  const http = createProviderHttp({ url, headers, timeoutMs: Math.min(timeoutMs, WITHIN_MS) });
  const reply = await http({ method: 'GET', path }, new AbortController().signal);
  const now = new Date();
  if (reply.kind === 'none') return { kind: 'none', reason: reply.reason } as const;
  const date = Date.parse(reply.headers['date'] ?? '');
  return {
    kind: 'answer',
    envelope: readEnvelope(reply, now),
    aheadMs: now.getTime() - date,
  } as const;
}

/** A key may have fewer privileges than the service needs. Each kind of record that moves money is asked for. */
const READS = ['/transfer?perPage=1', '/transaction?per_page=1', '/refund?perPage=1'];

async function examineKey(paystack: PaystackSettings, asked: Asked) {
  const { keys, domain } = paystack;
  const answer = await asked;
  if (answer.kind === 'none')
    return fail(`no answer (${answer.reason})`, 'check PAYSTACK_BASE_URL');
  const { kind } = answer.envelope;
  if (kind === 'credentials') return fail('Paystack refuses the key', KEY_HINT);
  if (kind !== 'done') return fail(`no usable answer (${kind})`, KEY_HINT);
  const read = READS.map(async (path) => ({
    path,
    answer: await ask(paystack, path),
  }));
  const refused = (await Promise.all(read)).filter(
    (each) => each.answer.kind === 'answer' && each.answer.envelope.kind === 'refused',
  );
  if (refused.length > 0) {
    const paths = refused.map(({ path }) => `GET ${path.split('?')[0]}`).join(' and ');
    return fail(`the key lacks the privilege for ${paths}`, PRIVILEGE_HINT);
  }
  const earlier = keys.length > 1 ? `; ${keys.length - 1} earlier for messages, to be removed` : '';
  return pass(`a ${domain} key, accepted; only a payment shows whether it may pay${earlier}`);
}

/** Paystack has no question about this setting: only a transfer that waits for a code proves it. */
async function examineOtp({ mongodb }: Config) {
  const client = createMongoClient(mongodb.uri, 'bursar-doctor');
  try {
    const faults = client
      .db(mongodb.database)
      .collection<ProviderFault>(providerFaultsCollection.name);
    const asked = await faults.findOne({
      provider: 'paystack',
      name: 'otp_required',
      ended_at: null,
    });
    return asked
      ? fail('a transfer waits for a code, so no transfer can be paid', OTP_HINT)
      : pass('the setting cannot be read; no transfer has asked for a code so far');
  } finally {
    await client.close();
  }
}

async function examineFloat({ floatAlertMinor, domain }: PaystackSettings, asked: Asked) {
  const answer = await asked;
  const hint = 'see the row of the key';
  if (answer.kind === 'none' || answer.envelope.kind !== 'done') return fail('not known', hint);
  const balance = readBalance(answer.envelope, domain);
  if ('fault' in balance) return fail('the balance of the other environment', hint);
  if (balance.kind !== 'balance') return fail('no balance in NGN', 'ask Paystack to enable NGN');
  const detail = `${formatMajor(balance.availableMinor)} NGN`;
  if (balance.availableMinor > 0n && balance.availableMinor >= floatAlertMinor) return pass(detail);
  return fail(detail, 'top the balance up at Paystack: transfers and refunds wait for it');
}

async function examineClock(asked: Asked) {
  const answer = await asked;
  if (answer.kind === 'none' || Number.isNaN(answer.aheadMs)) return pass('Paystack tells no time');
  const { aheadMs } = answer;
  const detail = `${duration(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead of'} Paystack`;
  if (Math.abs(aheadMs) < TOLERANCE_MS) return pass(detail);
  return fail(detail, 'synchronize the clock of this machine: pages and limits expire by it');
}

/** Paystack does not tell where it sends its messages: that it sends none is seen by the records that wait for them. */
async function examineCallbacks({ mongodb }: Config) {
  const client = createMongoClient(mongodb.uri, 'bursar-doctor');
  try {
    const db = client.db(mongodb.database);
    const of = { provider: 'paystack' };
    const last = await db.collection('provider_events').findOne(of, {
      sort: { _id: -1 },
      projection: { received_at: 1 },
      ...acrossTenants('report'),
    });
    if (last)
      return pass(`the last one came ${duration(Date.now() - Number(last['received_at']))} ago`);
    const ended = { ...of, status: 'completed' };
    const counted = ['transfers', 'charges', 'deposits'].map((name) =>
      db.collection(name).countDocuments(ended, { limit: 1, ...acrossTenants('report') }),
    );
    const isUsed = (await Promise.all(counted)).some((count) => count > 0);
    return isUsed
      ? fail('none came so far', CALLBACKS_HINT)
      : pass(`none so far; ${CALLBACKS_HINT}`);
  } finally {
    await client.close();
  }
}
