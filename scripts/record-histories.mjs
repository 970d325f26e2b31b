// Records workflow histories for test/replay from a running copy with short times. In one terminal:
//   BURSAR_HOME=/tmp/recording BURSAR_ATTENTION_AFTER_MS=20000 BURSAR_AUTHORIZATION_HOLD_DAYS=0.0001 \
//   BURSAR_CHARGE_EXPIRES_MS=20000 BURSAR_DUNNING_DAYS=0.0001,0.0003 BURSAR_WEBHOOK_RETRY_SECONDS=0.2,0.4,0.6 \
//   BURSAR_PROVIDER_EVENT_RETRY_SECONDS=0.3,0.3 BURSAR_DEPOSIT_SEARCH_DAYS=1 BURSAR_DEPOSIT_SEARCH_EVERY_MS=5000 npm start
// and in another one:
//   BURSAR_HOME=/tmp/recording node scripts/record-histories.mjs              all groups
//   BURSAR_HOME=/tmp/recording node scripts/record-histories.mjs charges …    these groups: the keys of GROUPS
//   … --mark=-2027                                                          with this at the end of each name
// Before the first deployment histories may be recorded again. After it, record new ones beside the old ones with a
// mark: the old ones must stay replayable.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { MongoClient } from 'mongodb';
import { sign, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../dist/sandbox-bank/shared/signature.js';
import { moreGroups } from './history-groups.mjs';

const args = process.argv.slice(2);
const mark = (args.find((arg) => arg.startsWith('--mark=')) ?? '').replace('--mark=', '');
const wanted = args.filter((arg) => !arg.startsWith('--mark='));
const home = process.env.BURSAR_HOME ?? '.bursar';
const read = (file) => JSON.parse(readFileSync(join(home, file), 'utf8'));
const dev = read('dev.json');
/** Temporal lists a new run with this delay at most. */
const VISIBLE_AFTER_MS = 3_000;
const folder = join('test', 'replay', 'histories');
const connection = await Connection.connect({ address: dev.temporal_address });
const { workflow: workflows } = new Client({ connection, namespace: dev.temporal_namespace });
// Unpromoted values, so that a document can be put back exactly as it was.
const mongo = new MongoClient(dev.mongodb_uri, { promoteValues: false, directConnection: true });
const db = mongo.db('bursar_sandbox');

async function request(url, { body, headers = {}, method = body ? 'POST' : 'GET' } = {}) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  if (response.status !== 429) return response.json();
  await sleep(1_000 * response.headers.get('retry-after'));
  return request(url, { body, headers, method });
}

async function call(path, body) {
  const headers = { authorization: `Bearer ${dev.keys.secret}` };
  const { data, error } = await request(`${dev.api_url}/api/v1${path}`, { body, headers });
  if (error) throw new Error(`${path}: ${error.code} ${error.message}`);
  return data;
}

const atBank = (path, body) => request(`${dev.sandbox_bank_url}/_sandbox${path}`, { body });

async function until(what, done) {
  for (let i = 0; i < 600; i += 1) {
    const value = await done();
    if (value) return value;
    await sleep(500);
  }
  throw new Error(`waited in vain until ${what}`);
}

/**
 * Saves the history of a workflow once it has ended: of its longest run, because a signal after its end may have started
 * another one that found nothing to do.
 */
async function save(workflowId, name) {
  await workflows
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);
  await sleep(VISIBLE_AFTER_MS);
  let longest = { events: [] };
  for await (const { runId } of workflows.list({ query: `WorkflowId = "${workflowId}"` })) {
    const history = await workflows.getHandle(workflowId, runId).fetchHistory();
    if (history.events.length > longest.events.length) longest = history;
  }
  if (longest.events.length === 0) throw new Error(`${workflowId} is not visible`);
  writeFileSync(join(folder, `${name}${mark}.json`), `${historyToJSON(longest)}\n`);
  console.log(`recorded ${name}: ${longest.events.length} events`);
}

const hasEnded = ({ status }) => status === 'completed' || status === 'failed';

/** An operator's command. Its refusal is recorded, too. */
function act(kind, more = {}) {
  const payload = { actor: 'recorder', reason: 'for the record', ...more };
  return ({ workflowId }) =>
    workflows
      .getHandle(workflowId)
      .executeUpdate(kind, { args: [payload] })
      .catch(() => null);
}

/** The bank decides the transfer and sends its callback. */
const decide =
  (outcome) =>
  ({ id }) =>
    atBank(`/transfers/${id}`, { outcome });

/** A monitored transfer keeps its workflow for a day, so its history is recorded up to here. */
const terminate = ({ workflowId }) => workflows.getHandle(workflowId).terminate('recorded');

/** Name of the history, last three digits of the account, and the steps that follow once attention is raised. */
const TRANSFERS = [
  ['callback-only', '001'],
  ['rejected', '002'],
  ['unknown-then-verified', '004'],
  ['stuck-then-retried-then-failed', '005', act('retry'), act('fail', { force: true }), terminate],
  ['stuck-then-completed', '006', act('complete'), decide('paid'), act('complete')],
  ['stuck-then-failed', '006', act('fail'), act('fail', { force: true }), decide('failed')],
  ['stuck-then-paid-by-callback', '006', decide('paid')],
  ['errors-then-paid', '007'],
  ['reversed', '008'],
  ['throttled-then-paid', '010'],
  ['name-enquiry-silent', '011'],
];

const newTransfer = (suffix) => ({
  amount_minor: 250_000,
  recipient_account: `0123456${suffix}`,
  recipient_bank_code: '058',
  narration: 'history',
});

async function recordTransfer([name, suffix, ...steps]) {
  const { id } = await call('/transfers', newTransfer(suffix));
  const workflowId = `transfer/${id}`;
  await until(`${name} ends or needs an operator`, async () => {
    const transfer = await call(`/transfers/${id}`);
    return hasEnded(transfer) || transfer.attention !== null;
  });
  for (const step of steps) await step({ id, workflowId });
  return save(workflowId, `transfer-${name}`);
}

/** Transfers one after the other: those that arrive together would share a micro-batch. */
async function recordTransfers() {
  const running = [];
  for (const one of TRANSFERS) {
    running.push(recordTransfer(one));
    await sleep(1_000);
  }
  await Promise.all(running);
  const wasLocal = ({ events }) =>
    !events.some((event) => event.activityTaskScheduledEventAttributes);
  const open = new Set(['paid-locally', 'paid-by-queue']);
  while (open.size > 0) {
    // An unknown outcome gives the bank a cooldown, during which submissions use its task queue.
    if (open.size === 1 && open.has('paid-by-queue')) await call('/transfers', newTransfer('004'));
    await sleep(2_500);
    const { id } = await call('/transfers', newTransfer('100'));
    await until('it is paid', async () => hasEnded(await call(`/transfers/${id}`)));
    const history = await workflows.getHandle(`transfer/${id}`).fetchHistory();
    const name = wasLocal(history) ? 'paid-locally' : 'paid-by-queue';
    if (open.delete(name)) await save(`transfer/${id}`, `transfer-${name}`);
  }
}

/** A bulk transfer of more than one chunk: some paid, one rejected, one throttled, one with a callback. */
async function recordBulkTransfer() {
  const suffixes = ['002', '001', '010', ...Array.from({ length: 60 }, () => '100')];
  const { id } = await call('/transfers/bulk', { transfers: suffixes.map(newTransfer) });
  await save(`bulk-transfer/${id}`, 'bulk-transfer');
}

/** Transfers that arrive together, sent again until they share a micro-batch. */
async function recordMicroBatch() {
  for (;;) {
    const suffixes = [...Array.from({ length: 9 }, () => '100'), '001'];
    const sent = await Promise.all(suffixes.map((each) => call('/transfers', newTransfer(each))));
    for (const { id } of sent) {
      const workflowId = `transfer-micro-batch/${id}`;
      const ended = await workflows
        .getHandle(workflowId)
        .result()
        .then(() => true)
        .catch(() => false);
      if (ended) return save(workflowId, 'transfer-micro-batch');
    }
  }
}

async function newCard(suffix = '789') {
  const { id } = await call('/cards', {
    customer_id: `c-${randomUUID()}-${suffix}`,
    type: 'virtual',
  });
  const operation = await db.collection('card_operations').findOne({ card_id: id, type: 'issue' });
  return { id, workflowId: `card-issuance/${String(operation?._id)}` };
}

async function activeCard() {
  const { id } = await newCard();
  await until('the card is active', async () => (await call(`/cards/${id}`)).status === 'active');
  return id;
}

/** Name of the history, and the end of the customer's id. */
const ISSUANCES = ['issued 789', 'callback-only 001', 'rejected 002', 'unknown-then-verified 004'];

async function recordIssuance(one) {
  const [name, suffix] = one.split(' ');
  const { workflowId } = await newCard(suffix);
  await save(workflowId, `card-issuance-${name}`);
}

/** Name of the history, and changes of a card's state one right after the other, by their request ids. */
const STATES = [
  ['lock', ['lock', 'done']],
  ['lock-rejected-twice', ['lock', 'l-002']],
  ['lock-superseded', ['lock', 'l-002'], ['unlock', 'done']],
];

async function recordState([name, ...changes]) {
  const id = await activeCard();
  for (const [action, request_id] of changes) {
    await call(`/cards/${id}/${action}`, { request_id });
    // The next change comes while this one is retried.
    await sleep(1_500);
  }
  await save(`card-state/${id}`, `card-state-${name}`);
}

/** Name of the history, action, end of the transaction reference, and steps of an operator. */
const FUNDINGS = [
  ['funded', 'fund', '789'],
  ['unknown-then-verified', 'fund', '004'],
  ['jit-completed', 'jit-fund', '789'],
  ['jit-absent', 'jit-fund', '005'],
  ['jit-late-then-reversed', 'jit-fund', '012'],
  ['jit-late-not-reversible', 'jit-fund', '013', act('complete')],
];

async function fund(card, suffix, action = 'fund') {
  const transaction_reference = `top-up-${randomUUID()}-${suffix}`;
  const body = { amount_minor: 5_000, transaction_reference };
  return (await call(`/cards/${card}/${action}`, body)).id;
}

async function recordFunding([name, action, suffix, ...steps]) {
  const id = await fund(await activeCard(), suffix, action);
  const workflowId = `card-funding/${id}`;
  if (steps.length > 0) {
    const needsOperator = {
      $or: [{ _id: id }, { reverses_operation_id: id }],
      attention: { $ne: null },
    };
    await until('an operator is needed', () =>
      db.collection('card_operations').findOne(needsOperator),
    );
  }
  for (const step of steps) await step({ id, workflowId });
  await save(workflowId, `card-funding-${name}`);
}

async function recordAuthorization(name) {
  const card = await activeCard();
  await fund(card, '789');
  await until('it is funded', async () => (await call(`/cards/${card}/balance`)).available_minor);
  const { token } = await atBank('/authorizations', { card, amount_minor: 1_000, channel: 'pos' });
  const { _id } = await db.collection('card_authorizations').findOne({ token });
  // An expiry is not reported: the issuer is asked when the hold is past its time.
  if (name === 'cleared') await sleep(1_000);
  await atBank(`/authorizations/${token}`, { outcome: name, report: name === 'cleared' });
  await save(`card-authorization/${_id}`, `card-authorization-${name}`);
}

/** Name, the customer's choice on the page (null: leaves it), and how the token is then charged without them. */
const CHARGES = [
  ['paid-on-page', 'good'],
  ['abandoned', null],
  ['expired', undefined],
  ['merchant-initiated', 'good', '789'],
  ['soft-declined-then-paid', 'later_low_funds_twice', '789'],
  ['hard-declined', 'later_declined', '789'],
  ['unknown-then-verified', 'good', '004'],
];

const newCustomer = () => ({ id: `history-${randomUUID()}`, email: 'ada@example.com' });

const payWith = (choice) => (url) => {
  const action = choice === null ? { action: 'cancel' } : { action: 'pay', choice };
  return fetch(url, { method: 'POST', body: new URLSearchParams(action), redirect: 'manual' });
};

/** Creates a charge and waits for its end; `onPage` acts for the customer. Returns its reference. */
async function charge({ suffix = '789', ...body }, onPage) {
  const reference = `history-${randomUUID()}-${suffix}`;
  await call('/payments/charges', { amount_minor: 250_000, reference, ...body });
  let visited = false;
  await until('the charge has ended', async () => {
    const present = await call(`/payments/charges/${reference}`);
    if (present.next_action && onPage && !visited) {
      visited = true;
      await onPage(present.next_action.url);
    }
    return hasEnded(present);
  });
  return reference;
}

/** A customer with a token that was set up by a payment on the page. */
async function setUpToken(choice) {
  const customer = newCustomer();
  const { payment_token_id } = await call('/payments/tokens/card', { customer });
  const token = { customer, payment_token_id };
  const setUp = { ...token, capture_mode: 'customer_action_required' };
  const reference = await charge(setUp, choice === undefined ? null : payWith(choice));
  return { token, reference };
}

async function recordCharge([name, choice, suffix]) {
  let { token, reference } = await setUpToken(choice);
  if (suffix) reference = await charge({ ...token, capture_mode: 'merchant_initiated', suffix });
  const { _id } = await db.collection('charges').findOne({ reference });
  await save(`charge/${_id}`, `charge-${name}`);
}

/** Name of the history, and the end of the refund's reference. */
const REFUNDS = ['refunded 789', 'callback-only 001', 'rejected 002', 'unknown-then-verified 004'];

async function recordRefund(one) {
  const [name, suffix] = one.split(' ');
  const body = { customer: newCustomer(), capture_mode: 'customer_action_required' };
  const charge_reference = await charge(body, payWith('good'));
  const reference = `history-${randomUUID()}-${suffix}`;
  await call('/payments/refunds', { charge_reference, amount_minor: 1_000, reference });
  const { _id } = await db.collection('refunds').findOne({ reference });
  await save(`refund/${_id}`, `refund-${name}`);
}

/** The results of the local activities of a workflow, as text. */
async function resultsOf(workflowId) {
  const { events } = await workflows.getHandle(workflowId).fetchHistory();
  return events
    .flatMap(({ markerRecordedEventAttributes: marker }) => Object.values(marker?.details ?? {}))
    .flatMap(({ payloads }) => payloads.map(({ data }) => Buffer.from(data).toString()))
    .join('\n');
}

/** Runs of a renewal that are started too early, in time, and with nothing left to charge. */
async function recordRenewals() {
  const { token } = await setUpToken('good');
  const start_at = new Date(Date.now() + 12_000);
  const body = { payment_token_id: token.payment_token_id, amount_minor: 1_000, interval: 'month' };
  const { id } = await call('/payments/recurring-charges', {
    ...body,
    start_at: start_at.toISOString(),
  });
  const run = async (name) => {
    const workflowId = `recurring-charge-renewal/${id}-${name}`;
    const args = [{ tenantId: dev.tenant, id }];
    await workflows.start('recurringChargeRenewal', { workflowId, taskQueue: 'bursar', args });
    await save(workflowId, `recurring-charge-renewal-${name}`);
  };
  await sleep(start_at.getTime() - Date.now() - 3_000);
  await run('too-early');
  await run('nothing-due');
  const { id: now } = await call('/payments/recurring-charges', body);
  const query = `WorkflowType = "recurringChargeRenewal" AND WorkflowId STARTS_WITH "recurring-charge-renewal/${now}"`;
  const charged = await until('its first period is charged', async () => {
    for await (const { workflowId } of workflows.list({ query })) {
      if ((await resultsOf(workflowId)).includes('"chargeId":"chg_')) return workflowId;
    }
    return null;
  });
  await save(charged, 'recurring-charge-renewal-charged');
}

/** An event as the issuer sends it, signed. */
async function sendCardEvent(event, data) {
  const body = JSON.stringify({
    id: `evt_${randomUUID()}`,
    event,
    occurred_at: new Date().toISOString(),
    data: { amount_minor: 5_000, currency: 'NGN', code: null, ...data },
  });
  const at = String(Math.floor(Date.now() / 1000));
  const signature = sign(read('secrets.json').bank_secret, at, body);
  const headers = { [TIMESTAMP_HEADER]: at, [SIGNATURE_HEADER]: signature };
  await request(`${dev.api_url}/api/v1/webhooks/cards/sandbox-bank`, { body, headers });
}

async function eventAbout(reference, filter) {
  const events = db.collection('provider_events');
  const about = { 'facts.reference': reference, ...filter };
  return (await until(JSON.stringify(about), () => events.findOne(about)))._id;
}

async function recordReplay(event, name) {
  const { id } = await call(`/webhooks/cards/events/${event}/replay`, {});
  return save(`provider-event-replay/${id}`, `provider-event-replay-${name}`);
}

/** An event whose funding is missing at the first attempt, and one whose funding is missing until after a first replay. */
async function recordProviderEvents() {
  const operations = db.collection('card_operations');
  const operation = await fund(await activeCard(), '789');
  const funded = { _id: operation, status: 'completed' };
  const document = await until('it is funded', () => operations.findOneAndDelete(funded));
  const { issued } = await db.collection('cards').findOne({ _id: document.card_id });
  const about = { reference: operation, card: issued.issuer_card_id };
  await sendCardEvent('card.funding_pending', about);
  const early = await eventAbout(operation, { event: 'card.funding_pending', attempt_count: 1 });
  await operations.insertOne(document);
  await save(`provider-event/${early}`, 'provider-event-applied');
  await recordReplay(early, 'applied');
  await operations.deleteOne({ _id: operation });
  await sendCardEvent('card.funded', about);
  const failed = await eventAbout(operation, { status: 'failed' });
  await recordReplay(failed, 'of-failed');
  await operations.insertOne(document);
  await call(`/webhooks/cards/events/${failed}/replay`, {});
  await save(`provider-event/${failed}`, 'provider-event-failed-then-replayed');
}

/** Name of the history, and the receiver's answers to the attempts of an event; the last one repeats. */
const WEBHOOKS = [
  ['retried-then-delivered', 500, 500, 200],
  ['dead', 500],
  ['endpoint-removed', 500],
];

function bursar(...args) {
  return execFileSync(process.execPath, ['dist/src/ops/cli/main.js', ...args, '--json'], {
    encoding: 'utf8',
    env: { ...process.env, BURSAR_HOME: home },
  });
}

async function recordWebhook([name, ...statuses]) {
  const attempts = new Map();
  const answer = (event) => {
    const attempt = attempts.get(event) ?? 0;
    attempts.set(event, attempt + 1);
    return statuses[Math.min(attempt, statuses.length - 1)];
  };
  const receiver = createServer((incoming, response) => {
    void json(incoming).then(({ id }) => response.writeHead(answer(id)).end());
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${receiver.address().port}/hook`;
  const { id } = JSON.parse(
    bursar('webhooks', 'endpoints', 'add', '--tenant', dev.tenant, '--url', url),
  );
  await call('/transfers', newTransfer('002'));
  await until('a delivery has failed', () =>
    db.collection('webhook_deliveries').findOne({ endpoint_id: id, attempt_count: { $gt: 0 } }),
  );
  if (name === 'endpoint-removed') bursar('webhooks', 'endpoints', 'remove', id, '--yes');
  await save(`webhook-delivery/${id}`, `webhook-delivery-${name}`);
  receiver.close();
}

const each = (list, record) => () => Promise.all(list.map((one) => record(one)));
const GROUPS = {
  transfers: recordTransfers,
  'bulk-transfers': recordBulkTransfer,
  'micro-batches': recordMicroBatch,
  'card-issuance': each(ISSUANCES, recordIssuance),
  'card-states': each(STATES, recordState),
  'card-fundings': each(FUNDINGS, recordFunding),
  'card-authorizations': each(['cleared', 'expired'], recordAuthorization),
  charges: each(CHARGES, recordCharge),
  refunds: each(REFUNDS, recordRefund),
  'recurring-charges': recordRenewals,
  ...moreGroups({ call, atBank, until, save, act, hasEnded, each, db, workflows }),
  'provider-events': recordProviderEvents,
  webhooks: each(WEBHOOKS, recordWebhook),
};

for (const [group, record] of Object.entries(GROUPS)) {
  if (wanted.length === 0 || wanted.includes(group)) await record();
}
await mongo.close();
await connection.close();
