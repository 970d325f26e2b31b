import { capabilityFileNames, sourceFiles } from '../../scripts/structure.mjs';

/** The files of a capability; docs/decisions/0014 says what each is for. */
const SHAPE = [
  'index.ts',
  'api.ts',
  'schema.ts',
  'presenter.ts',
  'routes.ts',
  'transitions.ts',
  'postings.ts',
  'mutations.ts',
  'create.ts',
  'store.ts',
  'provider-calls.ts',
  'provider-events.ts',
  'workflow-contract.ts',
  'audit.ts',
];

/** Records, and other nouns of one domain. */
const NOUNS: string[] = [
  'auto-reload.ts',
  'bulk-transfer.ts',
  'card-authorization.ts',
  'card-operation.ts',
  'card.ts',
  'charge.ts',
  'counts.ts',
  'micro-batches.ts',
  'new-charge.ts',
  'payment-token.ts',
  'periods.ts',
  'recurring-charge.ts',
  'refund.ts',
  'rules.ts',
  'schedule.ts',
  'transfer.ts',
  'workflow-starter.ts',
];

describe('the shape of a capability', () => {
  const names = capabilityFileNames(sourceFiles());

  test('every file has the name of a job that all capabilities share, or is a noun of its domain', () => {
    const unknown = [...names.keys()].filter((name) => ![...SHAPE, ...NOUNS].includes(name));
    expect(unknown).toEqual([]);
  });

  test('no listed noun is without its file', () => {
    expect(NOUNS.filter((noun) => !names.has(noun))).toEqual([]);
  });
});
