import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { checkNamespace } from '../../../src/platform/temporal/namespace.js';
import { eventually } from '../../support/eventually.js';
import { sharedEngines } from '../../support/engines.js';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: sharedEngines().temporalAddress });
});
afterAll(() => connection.close());

/** A namespace as an administrator registers it. */
async function registered(owner?: string): Promise<string> {
  const namespace = `administered-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
    ...(owner !== undefined && { data: { 'bursar-environment': owner } }),
  });
  return namespace;
}

/** The reason for which a namespace is refused, once the server knows it; a new one is visible a moment later. */
const refusal = (namespace: string, text: string) =>
  eventually(`${namespace} is refused with ${text}`, async () => {
    const reason = await checkNamespace(connection, namespace, 'sandbox').catch(String);
    return reason?.includes(text) ? reason : undefined;
  });

test('a worker that may not register names the missing namespace with the command for an administrator, and creates none', async () => {
  const namespace = `missing-${randomUUID()}`;
  await expect(checkNamespace(connection, namespace, 'sandbox')).rejects.toThrow(
    `temporal operator namespace create --namespace ${namespace}`,
  );
  await expect(connection.workflowService.describeNamespace({ namespace })).rejects.toThrow();
});

test('a worker that may not register names every missing search attribute, and registers none', async () => {
  const namespace = await registered();
  const reason = await refusal(namespace, 'lacks search attributes');
  for (const pair of ['--name TenantId --type Keyword', '--name NeedsAttention --type Bool']) {
    expect(reason).toContain(pair);
  }
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  expect(customAttributes).not.toHaveProperty('TenantId');
});

test('a worker that may not register refuses the namespace of the other environment, and takes a complete one', async () => {
  await refusal(await registered('live'), 'belongs to the live environment');
  await checkNamespace(connection, 'bursar-sandbox', 'sandbox');
});
