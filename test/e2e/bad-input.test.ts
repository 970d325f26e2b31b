import { shareService, type Service } from '../support/service.js';
import { transferBody, type Reply, type TestTenant } from '../support/tenant.js';

/** The idempotency key of every refused request here. It must be unused afterwards. */
const KEY = 'never claimed';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const JSON_TYPE = { 'content-type': 'application/json' };

const post = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
  tenant.call('POST', '/transfers', body, { key: KEY, headers });

function expectRefused(reply: Reply, status: number, code: string, field?: string) {
  expect(reply.body).toEqual({ success: false, error: expect.any(Object) });
  expect([reply.status, reply.body.error.status]).toEqual([status, status]);
  expect([reply.body.error.code, reply.body.error.field]).toEqual([code, field]);
  expect(reply.headers.get('x-request-id')).toMatch(/^req_/);
  expect(reply.headers.get('x-ratelimit-remaining')).not.toBeNull();
}

const without = (name: string) =>
  Object.fromEntries(Object.entries(transferBody()).filter(([field]) => field !== name));
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

describe('bodies that are not JSON objects', () => {
  test.each([
    ['malformed JSON', '{"amount_minor": 150000,'],
    ['nothing but text', 'amount_minor=150000'],
    ['an array', JSON.stringify([transferBody()])],
    ['a number', '150000'],
    ['null', 'null'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
  ])('a body that is not a JSON object is refused: %s', async (_name, body) => {
    expectRefused(await post(body), 400, 'validation_error', 'body');
  });
});

describe('fields with invalid values', () => {
  test.each<[field: string, name: string, value: unknown]>([
    ['amount_minor', 'a float', 1500.5],
    ['amount_minor', 'negative', -150_000],
    ['amount_minor', 'zero', 0],
    ['amount_minor', 'beyond 2^53', 2 ** 53],
    ['amount_minor', 'far beyond', 1e300],
    ['amount_minor', 'a number as a string', '150000'],
    ['amount_minor', 'null', null],
    ['amount_minor', 'true', true],
    ['amount_minor', 'an array', [150_000]],
    ['amount_minor', 'an object', { minor: 150_000 }],
    ['amount_minor', 'below the minimum of the tenant', 99],
    ['amount_minor', 'above the maximum of the tenant', 500_000_001],
    ['recipient_account', '9 digits', '012345678'],
    ['recipient_account', '11 digits', '01234567890'],
    ['recipient_account', 'a number', 1_234_567_890],
    ['recipient_account', 'non-ASCII digits', '٠١٢٣٤٥٦٧٨٩'],
    ['recipient_account', 'full-width digits', '０１２３４５６７８９'],
    ['recipient_account', 'a line end after it', '0123456789\n'],
    ['recipient_account', 'letters', '01234S6789'],
    ['recipient_account', 'an object', { digits: '0123456789' }],
    ['recipient_bank_code', '2 digits', '58'],
    ['recipient_bank_code', '7 digits', '0000058'],
    ['recipient_bank_code', 'a number', 58],
    ['narration', 'empty', ''],
    ['narration', '101 characters', 'ä'.repeat(101)],
    ['narration', 'a control character', 'rent\u0000'],
    ['narration', 'a number', 5],
    ['reference', 'a blank at its end', 'order '],
    ['reference', '101 characters', 'r'.repeat(101)],
    ['reference', 'a mark of direction', 'order\u202e1'],
    ['reference', 'empty', ''],
    ['currency', 'another currency', 'USD'],
    ['metadata', 'a list', ['a']],
    ['metadata', 'a text', 'a'],
    ['metadata', '51 keys', keys(51)],
    ['metadata', 'more than 8 KiB', { note: 'x'.repeat(8_192) }],
    ['metadata.a.a.a.a.a', '6 levels', nested(6)],
    ['metadata.card', 'a card number', { card: '4111 1111 1111 1111' }],
    ['idempotency_key', 'another key than in the header', 'another'],
    ['idempotency_key', 'a number', 7],
    ['idempotency_key', '256 characters', 'k'.repeat(256)],
    ['surprise', 'a field that nobody knows', 1],
    ['recipient_acount', 'a typo', '0123456789'],
    ['destination_account_number', 'old and new names mixed', '0123456789'],
  ])('an invalid value is refused by the field’s name: %s, %s', async (field, _name, value) => {
    const body = JSON.stringify({ ...transferBody(), [field.split('.')[0] ?? field]: value });
    const reply = await post(body);
    expectRefused(reply, 400, 'validation_error', field);
    if (typeof value === 'string' && value.length > 3) {
      expect(reply.body.error.message).not.toContain(value);
    }
  });

  test.each(['amount_minor', 'recipient_account', 'recipient_bank_code', 'narration'])(
    'a missing field is refused by its name: %s',
    async (field) => {
      expectRefused(await post(JSON.stringify(without(field))), 400, 'validation_error', field);
    },
  );

  test('a refusal names the first invalid field and lists all', async () => {
    const body = { ...transferBody(), amount_minor: -1, recipient_account: 'x', surprise: 1 };
    const { error } = (await post(JSON.stringify(body))).body;
    const fields = error.details?.issues?.map((issue) => issue.field);
    expect(fields).toEqual(['amount_minor', 'recipient_account', 'surprise']);
    expect(error.field).toBe('amount_minor');
    const none = (await post('{}')).body.error.details?.issues?.map((issue) => issue.field);
    expect(none?.toSorted()).toEqual([
      'amount_minor',
      'narration',
      'recipient_account',
      'recipient_bank_code',
    ]);
  });
});

/** Built as a text, because an object literal would drop the name `__proto__`. */
const withRaw = (name: string, json: string) =>
  `${JSON.stringify(transferBody()).slice(0, -1)},"${name}":${json}}`;

describe('names that a database or JavaScript would interpret', () => {
  test.each([
    ['__proto__', '__proto__', '{"admin":true}'],
    ['metadata.__proto__', 'metadata', '{"__proto__":{"admin":true}}'],
    ['amount_minor.$gt', 'amount_minor', '{"$gt":0}'],
    ['$where', '$where', '"1"'],
    ['metadata.$set', 'metadata', '{"$set":{"status":"completed"}}'],
    ['metadata.list.0.$ne', 'metadata', '{"list":[{"$ne":null}]}'],
    ['recipient_account.$regex', 'recipient_account', '{"$regex":"^0"}'],
    ['reference.$ne', 'reference', '{"$ne":null}'],
  ])(
    'a name that MongoDB or JavaScript would interpret is refused: %s',
    async (field, name, json) => {
      expectRefused(await post(withRaw(name, json)), 400, 'validation_error', field);
    },
  );

  test('a deeply nested body is refused', async () => {
    const deep = '{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000);
    const reply = await post(withRaw('metadata', deep));
    expect([reply.status, reply.body.error.code]).toEqual([400, 'validation_error']);
    expect(reply.body.error.field).toMatch(/^metadata\.a\./);
  });
});

describe('bodies and headers that cannot be read', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=b',
    'application/json; charset=latin1',
    'application/xml',
  ])('Content-Type %s is 415', async (type) => {
    const reply = await post(JSON.stringify(transferBody()), { 'content-type': type });
    expectRefused(reply, 415, 'unsupported_media_type');
  });

  test('a body of 1 MB is 413', async () => {
    const body = JSON.stringify({ ...transferBody(), narration: 'x'.repeat(1024 * 1024) });
    expectRefused(await post(body), 413, 'payload_too_large');
  });

  test.each([
    ['empty in quotes', '""'],
    ['256 characters', 'k'.repeat(256)],
    ['beyond ASCII', 'clé'],
  ])('an invalid idempotency key in the header (%s) is 400', async (_name, key) => {
    const headers = { ...JSON_TYPE, 'idempotency-key': key };
    const reply = await tenant.call('POST', '/transfers', JSON.stringify(transferBody()), {
      headers,
    });
    expectRefused(reply, 400, 'validation_error', 'Idempotency-Key');
  });
});

describe('queries', () => {
  test.each([
    ['limit', 'limit=101'],
    ['limit', 'limit=0'],
    ['limit', 'limit=1e1'],
    ['page', 'page=-1'],
    ['page', 'page=1&page=2'],
    ['status', 'status=done'],
    ['start_date', 'start_date=2026-02-30'],
    ['end_date', 'start_date=2026-02-02&end_date=2026-02-01'],
    ['sort', 'sort=tenant'],
    ['reference[$ne]', 'reference[$ne]=1'],
    ['colour', 'colour=red'],
  ])('an invalid query parameter is refused by its name: %s in ?%s', async (field, query) => {
    const reply = await tenant.call('GET', `/transfers?${query}`, undefined);
    expectRefused(reply, 400, 'validation_error', field);
  });

  test.each(['nothing', 'trf_', 'trf_01m7yr04qfeh29r645zf36b5fg', '%00', '..%2f..%2fkeys', '$ne'])(
    '/transfers/%s is 404',
    async (id) => {
      expectRefused(await tenant.call('GET', `/transfers/${id}`, undefined), 404, 'not_found');
    },
  );
});

test('refused requests store nothing, hold nothing, and leave the idempotency key unused', async () => {
  const { db } = service.deps.database;
  const count = (name: string) => db.collection(name).countDocuments({ tenant_id: tenant.id });
  expect([await count('transfers'), await count('idempotency_keys')]).toEqual([0, 0]);
  // The posting that funded the wallet.
  expect(await count('postings')).toBe(1);

  const reply = await tenant.transfer(transferBody(), { key: KEY });
  expect([reply.status, reply.headers.get('idempotent-replayed')]).toEqual([201, null]);
  await tenant.waitFor(reply.body.data.id, 'completed');
  expect(await service.problems()).toEqual([]);
});
