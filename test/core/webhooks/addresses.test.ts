import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { loadConfig } from '../../../src/shared/config.js';
import { isPublicAddress, problemWithUrl } from '../../../src/core/webhooks/addresses.js';
import { createSender, problemWithAddress } from '../../../src/core/webhooks/sender.js';
import { startReceiver, type Behaviour, type Receiver } from '../../support/receiver.js';

const strict = { allowPrivate: false, requireHttps: false, timeoutMs: 2_000 };

let inside: Receiver;
beforeAll(async () => {
  inside = await startReceiver();
});
afterAll(async () => {
  await inside?.close();
});

const LOOPBACK = [
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '2130706433',
  '0',
  '0.0.0.0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  '127.0.0.1.',
  '１２７.0.0.1',
];

const NOT_PUBLIC = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '0.1.2.3',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd00:ec2::254',
  'fec0::1',
  'ff02::1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a00:1',
  '64:ff9b:1::a00:1',
  '2001::1',
  '2001:db8::1',
  '2002:a00:1::1',
  'not an address',
  '',
];

describe('the address of an endpoint', () => {
  test.each(LOOPBACK)(
    'an endpoint never resolves to the service’s own machine: %s',
    async (host) => {
      const url = `http://${host}:${inside.port}/`;
      expect(problemWithUrl(url, strict)).toMatch(/public network/);
      const sender = createSender(strict);
      const attempt = await sender.send(url, {}, '{}');
      expect(attempt).toMatchObject({ status: null, error: 'address_refused' });
      await sender.close();
      expect(inside.received).toEqual([]);
    },
  );

  test.each(NOT_PUBLIC)('%s is not an address of the public network', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    '%s is an address of the public network',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test('checking an address never throws, whatever its text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
        const problem = problemWithUrl(text, { ...strict, requireHttps: true });
        expect(problem === null || problem.length > 0).toBe(true);
        if (problem === null) expect(new URL(text).protocol).toBe('https:');
        isPublicAddress(text);
      }),
    );
  });

  test('an address must be https in live, without a password, and of limited length', () => {
    const live = { allowPrivate: false, requireHttps: true };
    expect(problemWithUrl('http://example.com/', live)).toMatch(/not https/);
    expect(problemWithUrl('https://example.com/', live)).toBeNull();
    expect(problemWithUrl('https://me:secret@example.com/', live)).toMatch(/password/);
    expect(problemWithUrl(`https://example.com/${'a'.repeat(2_048)}`, live)).toMatch(/longer/);
    expect(problemWithUrl('javascript:alert(1)', live)).toMatch(/neither/);
  });
});

describe('the host name of an endpoint', () => {
  const url = () => `http://hooks.example.com:${inside.port}/`;

  test.each([
    [['127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['10.1.2.3', '169.254.169.254']],
  ])('a name that resolves to %j is refused when a delivery connects', async (found) => {
    const sender = createSender({ ...strict, resolve: async () => found });
    expect(await sender.send(url(), {}, '{}')).toMatchObject({ error: 'address_refused' });
    await sender.close();
    expect(inside.received).toEqual([]);
    expect(await problemWithAddress(url(), { ...strict, resolve: async () => found })).toMatch(
      /no address of the public network/,
    );
  });

  test('a name is resolved once for a connection, which uses the checked address', async () => {
    const lookedUp: string[] = [];
    const resolve = async (host: string) => {
      lookedUp.push(host);
      // A name server could answer differently the second time, so there is no second lookup.
      return lookedUp.length === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
    };
    const sender = createSender({ ...strict, allowPrivate: true, resolve });
    expect(await sender.send(url(), {}, '{}')).toMatchObject({ status: 204, error: null });
    expect(lookedUp).toEqual(['hooks.example.com']);
    await sender.close();
  });

  test('a name that does not resolve may be added, and fails the attempt', async () => {
    const resolve = async () => Promise.reject(new Error('no such name'));
    const sender = createSender({ ...strict, resolve });
    expect(await sender.send(url(), {}, '{}')).toMatchObject({ error: 'name_not_resolved' });
    await sender.close();
    expect(await problemWithAddress(url(), { ...strict, resolve })).toBeNull();
  });
});

describe('the answer of a receiver', () => {
  const send = async (behaviour: Behaviour) => {
    const receiver = await startReceiver(behaviour);
    const sender = createSender({ ...strict, timeoutMs: 1_000, allowPrivate: true });
    const attempt = await sender.send(receiver.url, {}, '{}');
    await sender.close();
    await receiver.close();
    return attempt;
  };

  test('only an answer with 2xx counts as delivered', async () => {
    expect(await send(200)).toMatchObject({ status: 200, error: null });
    expect(await send(299)).toMatchObject({ status: 299, error: null });
    for (const status of [301, 302, 307, 308, 304, 400, 410, 500]) {
      expect(
        await send((response) => response.writeHead(status, { location: '/' }).end()),
      ).toMatchObject({
        status,
        error: 'refused',
      });
    }
  });

  test('a missing answer and a broken one are reported differently', async () => {
    expect(await send(() => undefined)).toMatchObject({ status: null, error: 'timeout' });
    expect(await send((response) => response.destroy())).toMatchObject({ error: 'connection' });
  });

  test('an endless answer is cut off', async () => {
    const cutOff = new Promise<void>((resolve) => {
      const endless: Behaviour = (response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(Buffer.alloc(64 * 1024)), 1);
        response.on('close', () => {
          clearInterval(timer);
          resolve();
        });
      };
      void send(endless).then((attempt) => expect(attempt.error).toBeNull());
    });
    await cutOff;
  });
});

test('private addresses cannot be allowed in live', () => {
  const env = {
    MONGODB_URI: 'mongodb://127.0.0.1',
    BURSAR_KEY_PEPPER: randomBytes(32).toString('base64'),
    BURSAR_SEALING_KEYS: `test:${randomBytes(32).toString('base64')}`,
    SANDBOX_BANK_SECRET: 'x'.repeat(16),
  };
  const allow = { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' };
  expect(loadConfig({ ...env, ...allow }).webhooks.allowPrivate).toBe(true);
  expect(() => loadConfig({ ...env, ...allow, BURSAR_ENV: 'live' })).toThrow(/ALLOW_PRIVATE/);
  const live = { BURSAR_ENV: 'live', BURSAR_LIVE_REHEARSAL: 'true' };
  expect(loadConfig({ ...env, ...live }).webhooks.scheduleMs).toEqual(
    [5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, 86_400].map((one) => one * 1000),
  );
  expect(() => loadConfig({ ...env, BURSAR_WEBHOOK_RETRY_SECONDS: '5,later' })).toThrow(/RETRY/);
});
