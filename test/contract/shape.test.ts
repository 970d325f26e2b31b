import { capabilityFileNames, sourceFiles } from '../../scripts/structure.mjs';

/** The files of a capability; docs/decisions/0014 says what each is for. */
const SHAPE = [
  'index.ts',
  'record.ts',
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
  'comparison.ts',
  'provider-events.ts',
  'webhook-events.ts',
  'workflow-contract.ts',
  'audit.ts',
];

/** Other nouns of one domain. */
const NOUNS: string[] = [
  'auto-reload.ts',
  'card-operation.ts',
  'counts.ts',
  'desk-refunds.ts',
  'facts.ts',
  'locks.ts',
  'messages.ts',
  'payers.ts',
  'reconciliation.ts',
  'requeries.ts',
  'returns.ts',
  'provider-answers.ts',
  'rules.ts',
  'schedule.ts',
  'setup.ts',
  'suspense.ts',
  'workflow-starter.ts',
];

describe('the shape of a capability', () => {
  const names = capabilityFileNames(sourceFiles());

  test('every file has the name of a job that all capabilities share, or is a noun of its domain', () => {
    const unknown = sourceFiles(['src/capabilities']).filter((file) => {
      const [, name = ''] = file.split('/').slice(2);
      return ![...SHAPE, ...NOUNS].includes(name);
    });
    expect(unknown).toEqual([]);
  });

  test('no listed noun is without its file', () => {
    expect(NOUNS.filter((noun) => !names.has(noun))).toEqual([]);
  });
});
