import { z } from 'zod';
import { depositId } from '../../src/capabilities/deposits/record.js';
import { capabilities } from '../../src/composition/capabilities.js';
import type { AuditEntry } from '../../src/core/audit/entry.js';
import { OPERATOR_COMMANDS } from '../../src/core/instructions/operator-commands.js';
import type { OperatorDeps } from '../../src/ops/operator-api/deps.js';
import { operatorRoutes } from '../../src/ops/operator-api/routes.js';
import type { Operation } from '../../src/platform/http/operation.js';
import { cardClient } from '../support/cards.js';
import { fixtures, fixtureOf } from '../support/fixtures.js';
import { identityClient, newCustomerId } from '../support/identity.js';
import { actRows, type ActRequest, type ActRow } from '../support/operator-acts.js';
import { stopOperatorApis } from '../support/operators.js';
import { startPolicyApi } from '../support/policy-acts.js';
import { SHARED_OPTIONS, startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { accountClient } from '../support/virtual-accounts.js';

let service: Service;
let api: Awaited<ReturnType<typeof startPolicyApi>>;
let tenant: TestTenant;
let rows: Record<string, ActRow>;
beforeAll(async () => {
  service = await startService(SHARED_OPTIONS.standard);
  const { databaseName: name } = service.deps.database.db;
  const uri = String(service.env['MONGODB_URI']);
  api = await startPolicyApi({ uri, name }, service.env);
  tenant = await service.tenant({ features: { identity: true } });
  rows = actRows({ service, api, tenant });
});
afterAll(async () => {
  await stopOperatorApis();
  await service?.close();
});

/** The calls of the bank that carry instructions out, or tell their outcome. */
const CALLS = [
  'submit',
  'lookup',
  'issue',
  'initialize',
  'refund',
  'assign',
  'check',
  'deposit',
] as const;

type Call = {
  name: string;
  actions: string[];
  method: string;
  path: string;
  prepare: () => Promise<ActRequest> | ActRequest;
};

const made = async (path: string) =>
  void (await fixtureOf(fixtures, path, path)(tenant, {}, service));

/** Makes an instruction of each capability. */
const INSTRUCTIONS: Record<string, () => Promise<unknown>> = {
  transfers: () => made('/transfers/{id}'),
  'bill-payments': () => made('/billpay/payments/{id}'),
  charges: () => made('/payments/charges/{reference}'),
  refunds: () => made('/payments/refunds/{reference}'),
  cards: () => cardClient(tenant).create(),
  'virtual-accounts': () => accountClient(tenant).accepted(),
  'identity-checks': () => identityClient(tenant).verify(newCustomerId(), { type: 'nin' }),
  deposits: async () => {
    const { store, starter } = service.deps.deposits;
    const reference = newCustomerId();
    const deposit = await store.record({
      id: depositId('sandbox-bank', reference),
      tenantId: tenant.id,
      provider: 'sandbox-bank',
      reference,
      accountId: null,
      accountNumber: '9700000000',
      amountMinor: 1_000n,
      receivedAt: new Date(),
      via: 'poll',
      detail: 'a deposit of the tests',
    });
    starter.startSoon(deposit);
  },
};

/** The operations of the operator API that a viewer may not call: those that change something. */
function changes(): Operation[] {
  const deps = { ...api.deps, reports: api.deps.database } satisfies OperatorDeps;
  return operatorRoutes(deps).flatMap(({ operation }) =>
    operation.roles?.includes('viewer') ? [] : [operation],
  );
}

/** The changes that a path names, such as `freeze`; null if it names none. */
function namedChanges({ params }: Operation): (string | null)[] {
  const change = params?.['change'];
  return change instanceof z.ZodEnum ? change.options.map(String) : [null];
}

/** The calls of the rows, one of each change. */
const directCalls = (): Call[] =>
  changes().flatMap((operation) =>
    namedChanges(operation).flatMap((change) => {
      const name = change === null ? operation.id : `${operation.id} ${change}`;
      const row = rows[name];
      if (!row) return [];
      const [actions, prepare] = row;
      const { method } = operation;
      const path = operation.path.replace('{change}', String(change));
      return { name, actions, method, path, prepare };
    }),
  );

/** All commands for an instruction of each capability, one list for each. */
const commandCalls = (): Promise<Call[][]> =>
  Promise.all(
    Object.entries(INSTRUCTIONS).map(async ([name, make]) => {
      await make();
      const { instruction } = capabilities.find((each) => each.name === name) ?? {};
      const latest = await instruction
        ?.records(service.deps)
        .store.latest({ attention: false, limit: 100 });
      const record = latest?.find(
        ({ tenant_id: of, status }) =>
          of === tenant.id && (status === 'pending' || status === 'processing'),
      );
      const request = { params: { id: String(record?._id) }, body: { reason: 'the tests say so' } };
      return OPERATOR_COMMANDS.map((kind) => ({
        name: `${name}.${kind}`,
        actions: [`${name}.${kind}`],
        method: 'post',
        path: `/${name}/{id}/${kind}`,
        prepare: () => request,
      }));
    }),
  );

/** The answer to a call, and the actions of its entries in the audit log. A second person approves it if it needs one. */
async function entriesOf({ method, path, prepare }: Call) {
  const { params = {}, body, status: wanted = 200 } = await prepare();
  const [maker, approver] = await Promise.all([
    api.person('operator', 'admin', 'approver'),
    api.person('approver'),
  ]);
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
  const { status, data } = await maker.call(method.toUpperCase(), at, body);
  if (data['done'] === false && data['approval']) await approver.approve(data['approval']);
  const entries = await service.deps.database.db
    .collection<AuditEntry>('audit_log')
    .find({ 'actor.operator': { $in: [maker.id, approver.id] } })
    .sort({ _id: 1 })
    .toArray();
  return {
    status: status === wanted ? 'as wanted' : status,
    actions: entries.map(({ action }) => action),
  };
}

async function expectEntries(calls: readonly Call[]): Promise<void> {
  for (const call of calls) {
    expect([call.name, await entriesOf(call)]).toEqual([
      call.name,
      { status: 'as wanted', actions: call.actions },
    ]);
  }
}

test('every operation of the operator API that changes something is tried here', () => {
  const commands = Object.keys(INSTRUCTIONS).flatMap((name) =>
    OPERATOR_COMMANDS.map((kind) => `${name}.${kind}`),
  );
  const declared = changes().flatMap((operation) =>
    namedChanges(operation).map((change) =>
      change === null ? operation.id : `${operation.id} ${change}`,
    ),
  );
  expect([...Object.keys(rows), ...commands].toSorted()).toEqual(declared.toSorted());
});

test('every act has its entries in the audit log, with the operator who has signed in', async () => {
  await expectEntries(directCalls());
});

test('every command for an instruction has its entry, also if the provider does not answer', async () => {
  await service.bank.faults(CALLS.map((call) => ({ call, kind: 'error_500', probability: 1 })));
  await Promise.all((await commandCalls()).map(expectEntries));
});
