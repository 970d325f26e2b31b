import type { Db } from 'mongodb';
import { createMongoClient } from '../../platform/database/client.js';
import { providerFaultsCollection, type ProviderFault } from '../../core/providers/faults.js';
import { createProviderHttp } from '../../core/providers/http.js';
import { readBalance } from '../../core/providers/paystack/transfer-calls.js';
import { readEnvelope, type Envelope } from '../../core/providers/paystack/envelope.js';
import type { Config } from '../../shared/config.js';
import { formatMajor } from '../../shared/money.js';
import type { PaystackSettings } from '../../shared/paystack-settings.js';
import { CALLBACKS_HINT, examineCallbacks } from './callbacks.js';
import { duration, examine, fail, pass, type Check } from './check.js';

const TOLERANCE_MS = 30_000;
const WITHIN_MS = 4_000;
const KEY_HINT =
  'copy the secret key of this mode from the dashboard into PAYSTACK_SECRET_KEY, and check that the list of allowed IP addresses there (API Keys & Webhooks) is empty or has the addresses of this service';
const OTP_HINT =
  'turn off *Confirm transfers before sending* at Paystack (Settings, Preferences), then `bursar providers resume paystack`';
const PRIVILEGE_HINT =
  'give the key the privileges for transfers, charges and refunds at Paystack; after a call without an answer, or one too many, run the check again a minute later';

/** Checks Paystack, if it is configured: its key, our balance, its clock, and the arrival of its messages. */
export async function examinePaystack(config: Config): Promise<Check[]> {
  const { paystack } = config;
  if (!paystack) return [];
  const asked = ask(paystack, '/balance');
  return Promise.all([
    examineKey(paystack, asked),
    examine('paystack: OTP', OTP_HINT, () => withDatabase(config, examineOtp)),
    examine('paystack: float', 'top the balance up at Paystack', () =>
      examineFloat(paystack, asked),
    ),
    examine('paystack: clock', 'synchronize the clock of this machine', () => examineClock(asked)),
    examine('paystack: callbacks', CALLBACKS_HINT, () =>
      withDatabase(config, (db) => examineCallbacks(db, config.providerEvents)),
    ),
  ]);
}

async function withDatabase<Found>({ mongodb }: Config, examineIn: (db: Db) => Promise<Found>) {
  const client = createMongoClient(mongodb.uri, 'bursar-doctor');
  try {
    return await examineIn(client.db(mongodb.database));
  } finally {
    await client.close();
  }
}

type Answer = Awaited<ReturnType<typeof ask>>;
type Asked = Promise<Answer>;

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
    status: reply.status,
    envelope: readEnvelope(reply, now),
    aheadMs: now.getTime() - date,
  } as const;
}

/** A key may have fewer privileges than the service needs. Each kind of record that moves money is asked for. */
const READS = ['/transfer?per_page=1', '/transaction?per_page=1', '/refund?perPage=1'];

/** Checks the key of Paystack by questions alone: our balance (`asked`), and a list of each kind of record that moves money. */
export const examineKey = (
  paystack: PaystackSettings,
  asked: Asked = ask(paystack, '/balance'),
): Promise<Check> =>
  examine('paystack: key', KEY_HINT, async () => {
    const { keys, domain } = paystack;
    const answer = await asked;
    if (answer.kind === 'none') return fail(came(answer), 'check PAYSTACK_BASE_URL');
    const { kind } = answer.envelope;
    if (kind === 'credentials') return fail('Paystack refuses the key', KEY_HINT);
    if (kind !== 'done') return fail(`no usable answer (${kind})`, KEY_HINT);
    const reads = READS.map(async (path) => ({ path, answer: await ask(paystack, path) }));
    const wrong = (await Promise.all(reads))
      .filter((read) => read.answer.kind === 'none' || read.answer.envelope.kind !== 'done')
      .map((read) => `GET ${read.path.split('?')[0]}: ${came(read.answer)}`);
    if (wrong.length > 0)
      return fail(`the key cannot read all: ${wrong.join('; ')}`, PRIVILEGE_HINT);
    const earlier =
      keys.length > 1 ? `; ${keys.length - 1} earlier for messages, to be removed` : '';
    return pass(`a ${domain} key, accepted; only a payment shows whether it may pay${earlier}`);
  });

/** An answer in words. */
const came = (answer: Answer): string =>
  answer.kind === 'none'
    ? `no usable answer (${answer.reason})`
    : `${WORDS[answer.envelope.kind]} (HTTP ${answer.status})`;

const WORDS: Record<Envelope['kind'], string> = {
  done: 'answered',
  refused: 'refused, so the key may lack the privilege',
  credentials: 'the key is refused',
  throttled: 'too many calls',
  unreadable: 'no usable answer',
};

/** Paystack has no question about this setting: only a transfer that waits for a code proves it. */
async function examineOtp(db: Db) {
  const faults = db.collection<ProviderFault>(providerFaultsCollection.name);
  const asked = await faults.findOne({
    provider: 'paystack',
    name: 'otp_required',
    ended_at: null,
  });
  return asked
    ? fail('a transfer waits for a code, so no transfer can be paid', OTP_HINT)
    : pass('the setting cannot be read; no transfer has asked for a code so far');
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
