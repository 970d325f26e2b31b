import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { examineTemporal } from '../../../src/ops/doctor/temporal.js';
import { loadConfig } from '../../../src/shared/config.js';
import { sharedEngines } from '../../support/engines.js';
import { eventually } from '../../support/eventually.js';

const { temporalAddress } = sharedEngines();

/** The rows about Temporal of a deployment on this namespace. */
const examine = (namespace: string, registers: boolean) =>
  examineTemporal(
    loadConfig({
      MONGODB_URI: 'mongodb://127.0.0.1/',
      BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
      BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
      SANDBOX_BANK_SECRET: 'a secret of the tests',
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: namespace,
      BURSAR_TEMPORAL_REGISTER: String(registers),
    }),
    [],
  );

test('where a worker registers nothing, the rows name the commands of an administrator', async () => {
  const namespace = `administered-${randomUUID()}`;
  const hintOf = async (row: string, registers: boolean) =>
    (await examine(namespace, registers)).find(({ check }) => check === row)?.hint;
  expect(await hintOf('temporal: namespace', true)).toContain('start a worker');
  const create = `temporal operator namespace create --namespace ${namespace}`;
  expect(await hintOf('temporal: namespace', false)).toContain(create);

  const connection = await Connection.connect({ address: temporalAddress });
  const workflowExecutionRetentionPeriod = msToTs('1 day');
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod,
  });
  await connection.close();
  // A new namespace is visible a moment later.
  const hint = await eventually('the row about search attributes has its hint', async () => {
    const found = await hintOf('temporal: search attributes', false);
    return found?.includes('--name TenantId --type Keyword') ? found : undefined;
  });
  expect(hint).toContain(`search-attribute create --namespace ${namespace}`);
  expect(await hintOf('temporal: search attributes', true)).toContain('start a worker');
});
