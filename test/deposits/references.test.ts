import { depositEventHandler } from '../../src/capabilities/deposits/provider-events.js';
import type { DepositReport } from '../../src/capabilities/deposits/provider-calls.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import { createProviderEventFacts } from '../../src/core/provider-events/facts.js';
import type { AccountEvent } from '../../src/core/providers/account-provider.js';

const ID = 'pev_1';
const event = {
  _id: ID,
  provider: 'paystack',
  attempt_count: 2,
  occurred_at: null,
  received_at: new Date('2026-11-25T09:00:00Z'),
} as unknown as ProviderEvent;

/** The handler of deposits behind the pipeline, which stores facts; the secrets are readable here. */
function pipeline() {
  const reports: DepositReport[] = [];
  const handler = depositEventHandler({
    deposits: {
      store: { ofProvider: async () => null },
      providerCalls: { report: async (_: string, report: DepositReport) => reports.push(report) },
    },
    virtualAccounts: { store: { withNumber: async () => null } },
  } as unknown as Parameters<typeof depositEventHandler>[0]);
  const secretBox = { seal: (text: string) => btoa(text), open: (sealed: string) => atob(sealed) };
  const facts = createProviderEventFacts({
    handlers: [handler],
    secretBox,
    events: { give: async () => undefined },
  });
  return { facts, reports };
}

const told = (id: string): AccountEvent => ({
  dedupeKey: id,
  name: 'deposit.received',
  about: {
    subject: 'deposit',
    id,
    kind: 'received',
    accountNumber: '9800000001',
    amountMinor: 40_000n,
  },
  occurredAt: null,
});

test.each(['T1a2b3c', '2026.11=A', '4111111111111111'])(
  'the message about a deposit with the reference %s is applied to it',
  async (id) => {
    const { facts, reports } = pipeline();
    const [fact] = facts.of('accounts', told(id), ID);
    if (!fact) throw new Error('no fact');
    expect(await facts.apply(fact, event)).toMatchObject({ kind: 'applied' });
    expect(reports).toMatchObject([{ id, accountNumber: '9800000001' }]);
  },
);

test('a reference that could be a card number is stored sealed alone', () => {
  const [fact] = pipeline().facts.of('accounts', told('4111111111111111'), ID);
  expect(fact).toMatchObject({ reference: null, sealed: expect.any(String) as string });
  expect(JSON.stringify({ ...fact, sealed: null, state: null })).not.toContain('4111');
});
