import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSandboxBankIdentity } from '../../src/core/providers/sandbox-bank/identity-adapter.js';
import { readIdentityMessage } from '../../src/core/providers/sandbox-bank/identity-events.js';
import { startSandboxBank } from '../../sandbox-bank/server.js';
import {
  optionsAt,
  removeFolder,
  SECRET,
  startReceiver,
  temporaryFolder,
} from '../sandbox-bank/support.js';
import { describeIdentityProvider } from './identity-provider.js';

function identityAt(url: string, deduplicates = true) {
  return createSandboxBankIdentity(optionsAt(url, deduplicates));
}

const number = (ending: string) => `22183746${ending}`;

for (const deduplicate of [true, false]) {
  describeIdentityProvider(`sandbox-bank, de-duplication ${deduplicate}`, async () => {
    const folder = temporaryFolder();
    const service = await startReceiver();
    const bank = await startSandboxBank({
      dataDir: folder,
      secret: SECRET,
      deduplicate,
      conclusiveAfterMs: 1_000,
      callbackUrl: service.url,
    });
    return {
      provider: identityAt(bank.url, deduplicate),
      unreachable: identityAt('http://127.0.0.1:1', deduplicate),
      numbers: {
        verified: number('789'),
        nameMismatch: number('002'),
        numberNotFound: number('003'),
        later: number('001'),
        withoutAnswer: number('004'),
        lost: number('005'),
        pending: number('006'),
        failingFirst: number('007'),
        throttledFirst: number('010'),
      },
      ways: { checkType: 'bvn', mismatch: 'name_mismatch', results: 'at_once' },
      async fail(reference) {
        await fetch(`${bank.url}/_sandbox/checks/${reference}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ outcome: 'failed' }),
        });
      },
      callbacksAbout: (reference, count) => service.wait(reference, count),
      stored: () => readFileSync(join(folder, 'journal.ndjson'), 'utf8'),
      async close() {
        await bank.close();
        await service.close();
        removeFolder(folder);
      },
    };
  });
}

describe('messages of the sandbox bank about identity checks', () => {
  const data = { reference: 'kyc_1', status: 'rejected', code: 'name_mismatch' };
  const event = {
    id: 'evt_1',
    event: 'check.rejected',
    occurred_at: '2026-11-21T09:00:00Z',
    data,
  };
  const read = (body: unknown) => readIdentityMessage(body, () => 'a hash');

  test('a rejection is read with our code', () => {
    expect(read(event)).toMatchObject({
      kind: 'event',
      event: { reference: 'kyc_1', state: { kind: 'rejected', code: 'name_mismatch' } },
    });
  });

  test.each([
    [{ ...event, event: 'check.verified' }],
    [{ ...event, data: { ...data, code: 'a_code_that_is_not_known' } }],
    [{ ...event, data: { ...data, status: 'lost' } }],
    [{ ...event, data: null }],
  ])(
    'a message that contradicts itself or has an unknown word is unreadable, never a rejection',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'unreadable', dedupeKey: 'a hash' });
    },
  );

  test('a message about something else is left to its port', () => {
    expect(read({ ...event, event: 'charge.paid' })).toMatchObject({ kind: 'other_port' });
  });
});
