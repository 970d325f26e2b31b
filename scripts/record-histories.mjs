// Records workflow histories for test/replay from a running copy (`npm start` in another terminal):
//   node scripts/record-histories.mjs                      all of them, side by side
//   node scripts/record-histories.mjs --mark=locally paid …   these, one after the other, as transfer-paid-locally.json …
//   node scripts/record-histories.mjs charges              those of charges: start the copy with short times, as
//                                                          BURSAR_DUNNING_DAYS=0.0001,0.0003 BURSAR_CHARGE_EXPIRES_MS=20000
//   node scripts/record-histories.mjs refunds              those of refunds
//   node scripts/record-histories.mjs micro-batches                that of transfers that start together
// Record again only when a history of today's code is wanted beside the old ones: the old ones have to stay replayable.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const [marks, names] = [true, false].map((mark) =>
  process.argv.slice(2).filter((word) => word.startsWith('--mark=') === mark),
);
const mark = marks.map((word) => word.replace('--mark=', '-')).join('');
const home = process.env.BURSAR_HOME ?? '.bursar';
const dev = JSON.parse(readFileSync(join(home, 'dev.json'), 'utf8'));
const folder = join('test', 'replay', 'histories');
const headers = { authorization: `Bearer ${dev.keys.secret}`, 'content-type': 'application/json' };

/** Name of the history, last three digits of the account, and what operator and bank do once it is stuck. */
const CASES = [
  ['paid', '100'],
  ['callback-only', '001'],
  ['rejected', '002'],
  ['unknown-then-verified', '004'],
  ['stuck-then-retried-then-failed', '005', act('retry'), act('fail', { force: true }), end],
  ['stuck-then-completed', '006', act('complete'), tell('paid'), act('complete')],
  ['stuck-then-failed', '006', act('fail'), act('fail', { force: true }), tell('failed')],
  ['stuck-then-paid-by-callback', '006', tell('paid')],
  ['errors-then-paid', '007'],
  ['reversed', '008'],
  ['throttled-then-paid', '010'],
  ['name-enquiry-silent', '011'],
];

function act(kind, more = {}) {
  const payload = { actor: 'recorder', reason: 'for the record', ...more };
  // Refusals are recorded, too.
  return ({ workflow }) => workflow.executeUpdate(kind, { args: [payload] }).catch(() => null);
}

function tell(outcome) {
  return ({ id }) =>
    fetch(`${dev.sandbox_bank_url}/_sandbox/transfers/${id}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ outcome }),
    });
}

/** What is watched for a day is recorded as far as it came. */
async function end({ workflow }) {
  await workflow.terminate('recorded');
}

async function call(path, body) {
  const response = await fetch(`${dev.api_url}/api/v1${path}`, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (response.status === 429) {
    await new Promise((resolve) =>
      setTimeout(resolve, 1_000 * response.headers.get('retry-after')),
    );
    return call(path, body);
  }
  const { data, error } = await response.json();
  if (error) throw new Error(`${path}: ${error.code} ${error.message}`);
  return data;
}

async function until(id, done) {
  for (let i = 0; i < 600; i += 1) {
    const transfer = await call(`/transfers/${id}`);
    if (done(transfer)) return;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
  throw new Error(`${id} did not come to its end`);
}

async function record([name, suffix, ...steps], client) {
  const { id } = await call('/transfers', {
    amount_minor: 250_000,
    recipient_account: `0123456${suffix}`,
    recipient_bank_code: '058',
    narration: `history ${name}`,
  });
  const workflow = client.workflow.getHandle(`transfer/${id}`);
  const ended = ({ status }) => status === 'completed' || status === 'failed';
  await until(id, (transfer) => ended(transfer) || transfer.attention !== null);
  for (const step of steps) await step({ id, workflow });
  await workflow.result().catch(() => undefined);
  const history = await workflow.fetchHistory();
  writeFileSync(join(folder, `transfer-${name}${mark}.json`), `${historyToJSON(history)}\n`);
  console.log(`recorded ${name}: ${history.events.length} events`);
}

/** A batch of more than one part: some paid, one refused, one put off, one told by callback. */
async function recordBulk(client) {
  const suffixes = ['002', '001', '010', ...Array.from({ length: 60 }, () => '100')];
  const transfers = suffixes.map((suffix) => ({
    amount_minor: 250_000,
    recipient_account: `0123456${suffix}`,
    recipient_bank_code: '058',
    narration: 'history bulk',
  }));
  const { id } = await call('/transfers/bulk', { transfers });
  for (let done = false; !done;) {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    done = (await call(`/transfers/bulk/${id}`)).status === 'completed';
  }
  const history = await client.workflow.getHandle(`bulk-transfer/${id}`).fetchHistory();
  writeFileSync(join(folder, 'bulk-transfer.json'), `${historyToJSON(history)}\n`);
  console.log(`recorded bulk: ${history.events.length} events`);
}

/** Transfers that set out together: most are paid at once, one is told by callback. Sent until there is such a micro-batch. */
async function recordMicroBatch(client) {
  for (;;) {
    const suffixes = [...Array.from({ length: 9 }, () => '100'), '001'];
    const body = {
      amount_minor: 250_000,
      recipient_bank_code: '058',
      narration: 'history micro-batch',
    };
    const sent = await Promise.all(
      suffixes.map((suffix) =>
        call('/transfers', { ...body, recipient_account: `0123456${suffix}` }),
      ),
    );
    for (const { id } of sent) {
      const workflow = client.workflow.getHandle(`transfer-micro-batch/${id}`);
      const ended = await workflow.result().then(
        () => true,
        () => false,
      );
      if (!ended) continue;
      const history = await workflow.fetchHistory();
      writeFileSync(
        join(folder, `transfer-micro-batch${mark}.json`),
        `${historyToJSON(history)}\n`,
      );
      console.log(`recorded micro-batch: ${history.events.length} events`);
      return;
    }
  }
}

/** Name, what the customer chooses on the page (null: leaves), and how the token is then charged without them. */
const CHARGES = [
  ['paid-on-page', 'good'],
  ['abandoned', null],
  ['expired', undefined],
  ['merchant-initiated', 'good', '789'],
  ['soft-declined-then-paid', 'later_low_funds_twice', '789'],
  ['hard-declined', 'later_declined', '789'],
  ['unknown-then-verified', 'good', '004'],
];

/** A charge until it has ended; `onPage` does what a customer does there. */
async function charge(order, onPage) {
  const reference = `history-${Math.random().toString(36).slice(2)}-${order.suffix ?? '789'}`;
  const { suffix: _suffix, ...body } = { amount_minor: 250_000, reference, ...order };
  await call('/payments/charges', body);
  let done = false;
  let sent = false;
  while (!done) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { status, next_action: action } = await call(`/payments/charges/${reference}`);
    done = status === 'completed' || status === 'failed';
    if (action && !sent) {
      sent = true;
      await onPage?.(action.url);
    }
  }
  return reference;
}

async function recordCharge([name, choice, suffix], client) {
  const customer = {
    id: `history-${Math.random().toString(36).slice(2)}`,
    email: 'ada@example.com',
  };
  const { payment_token_id } = await call('/payments/tokens/card', { customer });
  const act = choice === null ? { action: 'cancel' } : { action: 'pay', choice };
  const onPage = (url) =>
    choice === undefined ||
    fetch(url, { method: 'POST', body: new URLSearchParams(act), redirect: 'manual' });
  const token = { customer, payment_token_id };
  const setup = { ...token, capture_mode: 'customer_action_required' };
  let reference = await charge(setup, onPage);
  const merchant = { ...token, capture_mode: 'merchant_initiated', suffix };
  if (suffix) reference = await charge(merchant);
  await save(client, reference, `charge-${name}`);
}

async function save(client, reference, name) {
  const query = `reference = "${reference}"`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    const workflow = client.workflow.getHandle(workflowId);
    await workflow.result().catch(() => undefined);
    const history = await workflow.fetchHistory();
    writeFileSync(join(folder, `${name}${mark}.json`), `${historyToJSON(history)}\n`);
    console.log(`recorded ${name}: ${history.events.length} events`);
  }
}

/** Name of the history, and the end of the refund's reference. */
const REFUNDS = [
  ['refunded', '789'],
  ['callback-only', '001'],
  ['rejected', '002'],
  ['unknown-then-verified', '004'],
];

async function recordRefund([name, suffix], client) {
  const customer = { id: `history-${crypto.randomUUID()}`, email: 'ada@example.com' };
  const body = new URLSearchParams({ action: 'pay', choice: 'good' });
  const charge_reference = await charge(
    { customer, capture_mode: 'customer_action_required' },
    (url) => fetch(url, { method: 'POST', body, redirect: 'manual' }),
  );
  const reference = `history-${crypto.randomUUID()}-${suffix}`;
  await call('/payments/refunds', { charge_reference, amount_minor: 1_000, reference });
  for (let done = false; !done;) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { status } = await call(`/payments/refunds/${reference}`);
    done = status === 'completed' || status === 'failed';
  }
  await save(client, reference, `refund-${name}`);
}

/** Name of the history, and the orders about a card, one right after the other, with their request ids. */
const LOCKS = [
  ['lock', ['lock', 'done']],
  ['lock-rejected-twice', ['lock', 'l-002']],
  ['lock-superseded', ['lock', 'l-002'], ['unlock', 'done']],
];

/** The workflow of a card, from its start to its end. */
async function recordControl([name, ...orders], client) {
  const { id } = await call('/cards', { customer_id: `recorder-${name}`, type: 'virtual' });
  const until = async (done) => {
    while (!done(await call(`/cards/${id}`)))
      await new Promise((resolve) => setTimeout(resolve, 200));
  };
  await until(({ status }) => status === 'active');
  let last;
  for (const [action, request_id] of orders) {
    last = await call(`/cards/${id}/${action}`, { request_id });
  }
  const operation = `/cards/${id}/operations/${last.id}`;
  while ((await call(operation)).completed_at === null) {
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const workflow = client.workflow.getHandle(`card-state/${id}`);
  await workflow.result();
  const history = await workflow.fetchHistory();
  writeFileSync(join(folder, `card-state-${name}.json`), `${historyToJSON(history)}\n`);
  console.log(`recorded card-${name}: ${history.events.length} events`);
}

mkdirSync(folder, { recursive: true });
const connection = await Connection.connect({ address: dev.temporal_address });
const client = new Client({ connection, namespace: dev.temporal_namespace });
if (names.length === 0) {
  await Promise.all([
    ...CASES.map((one) => record(one, client)),
    ...LOCKS.map((one) => recordControl(one, client)),
    recordBulk(client),
  ]);
}
if (names.includes('charges')) {
  await Promise.all(CHARGES.map((one) => recordCharge(one, client)));
}
if (names.includes('refunds')) {
  await Promise.all(REFUNDS.map((one) => recordRefund(one, client)));
}
if (names.includes('micro-batches')) await recordMicroBatch(client);
const several = new Set(['charges', 'refunds', 'micro-batches']);
for (const wanted of names.filter((name) => !several.has(name))) {
  const named = ([name]) => name === wanted;
  if (LOCKS.some(named)) await recordControl(LOCKS.find(named), client);
  else await record(CASES.find(named), client);
}
await connection.close();
