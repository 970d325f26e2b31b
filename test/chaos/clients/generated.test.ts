import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { SHARED_OPTIONS, startService, type Service } from '../../support/service.js';

type Program = { name: string; command: string; args: string[]; env: Record<string, string> };

const given = process.env['BURSAR_GENERATED_CLIENTS'];
if (!given) throw new Error('there are no generated clients: run npm run openapi:clients');
const programs = JSON.parse(given) as Program[];

let service: Service;
beforeAll(async () => {
  service = await startService(SHARED_OPTIONS.standard);
}, 300_000);
afterAll(() => service?.close());

test.each(programs)(
  'the client of $name makes a transfer once for one key, reads its end, and has the code of a refusal',
  async ({ command, args, env }) => {
    const tenant = await service.tenant({ balanceMinor: 1_000_000 });
    const { stdout } = await promisify(execFile)(command, args, {
      env: { ...process.env, ...env, BURSAR_URL: service.api.url, BURSAR_KEY: tenant.key },
    });
    const transfers = service.deps.database.db.collection<Transfer>('transfers');
    const made = await transfers.find({ tenant_id: tenant.id }).toArray();
    expect(made.map(({ status }) => status)).toEqual(['completed']);
    const [id] = made.map(({ _id }) => _id);
    expect(JSON.parse(stdout)).toEqual({
      id,
      repeated: id,
      status: 'completed',
      refused: 'insufficient_balance',
    });
  },
  300_000,
);
