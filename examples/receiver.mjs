// A receiver of webhooks: it verifies each message, keeps its event once, answers at once, and does its work afterwards. Work that
// a crash has interrupted is done at the next start, so it must be safe to repeat.
// Run: node receiver.mjs <port>
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { verifyWebhook, WebhookVerificationError } from '@bursar/client';

const port = Number(process.argv[2] ?? 4000);
// Written by `bursar webhooks endpoints add --to-file`. One secret a line: during a rotation both.
const secretFile = process.env.BURSAR_WEBHOOK_SECRET_FILE ?? 'webhook-secret';
const inboxFile = process.env.BURSAR_INBOX_FILE ?? 'inbox.ndjson';
const MAX_BODY_BYTES = 1024 * 1024;

// A service has a table here, with the id of the event as its unique key.
const inbox = openInbox();
/** The events that are kept: a message comes again if its answer was lost, and by an operator's command. */
const kept = new Set();
/** The highest event of each resource, because messages overtake each other. */
const latest = new Map();
for (const { id } of inbox.events) kept.add(id);
for (const event of inbox.events) if (inbox.handled.has(event.id)) isLatest(event);
for (const event of inbox.events) if (!inbox.handled.has(event.id)) handle(event);

const server = createServer((request, response) => {
  void receive(request).then((status) => response.writeHead(status).end());
});
server.listen(port, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.on('SIGTERM', () => server.close(() => closeSync(inbox.file)));

async function receive(request) {
  try {
    // The body as it came, before any parsing: the signature is of its bytes.
    const body = await read(request);
    if (body === null) return 413;
    const event = await verifyWebhook(secrets(), request.headers, body);
    if (kept.has(event.id)) return 204;
    keep(event);
    // After the answer, because Bursar waits ten seconds for it and then sends the message again.
    setImmediate(handle, event);
    return 204;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return 400;
    // Nothing is kept, so the message must come again.
    console.error(error);
    return 500;
  }
}

async function read(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Read for each message, so that a rotation needs no restart. */
function secrets() {
  return readFileSync(secretFile, 'utf8').split('\n').filter(Boolean);
}

/** The event is on disk before it is answered: Bursar does not send it again after a 2xx. */
function keep(event) {
  append(event);
  kept.add(event.id);
}

/** Writes a line, whole or not at all: after the rest of one that is cut short, no later line could be read. */
function append(line) {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  const { size } = fstatSync(inbox.file);
  try {
    if (writeSync(inbox.file, bytes) < bytes.length) throw new Error(`no space for ${inboxFile}`);
    fdatasyncSync(inbox.file);
  } catch (error) {
    ftruncateSync(inbox.file, size);
    throw error;
  }
}

/** The work: here a line for each new state of a resource. The event counts as handled after it. */
function handle(event) {
  if (isLatest(event)) console.log(event.event, event.data.id);
  append({ handled: event.id });
}

/** True if no later event of the resource came before. */
function isLatest({ sequence, data }) {
  if (sequence <= (latest.get(data.id) ?? 0)) return false;
  latest.set(data.id, sequence);
  return true;
}

/** Opens the file of the events, and of those that were handled. The end of a line whose writer died is removed: it was not answered, and comes again. */
function openInbox() {
  const text = existsSync(inboxFile) ? readFileSync(inboxFile, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) truncateSync(inboxFile, Buffer.byteLength(whole));
  const lines = whole.split('\n').filter(Boolean);
  const parsed = lines.map((line) => JSON.parse(line));
  const isEvent = ({ handled }) => handled === undefined;
  return {
    file: openSync(inboxFile, 'a', 0o600),
    events: parsed.filter(isEvent),
    handled: new Set(parsed.map(({ handled }) => handled)),
  };
}
