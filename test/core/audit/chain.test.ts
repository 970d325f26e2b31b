import fc from 'fast-check';
import { BSON } from 'mongodb';
import {
  CHAIN_START,
  followChain,
  nextEntry,
  type AuditDraft,
  type AuditEntry,
  type ChainEnd,
} from '../../../src/core/audit/entry.js';

const drafts = fc.array(
  fc.record({
    id: fc.uuid(),
    action: fc.constantFrom('wallets.credit', 'keys.create', 'transfers.fail'),
    target: fc.string({ minLength: 1, maxLength: 20 }),
    reason: fc.option(fc.string({ maxLength: 20 })),
    amount: fc.nat(),
  }),
  { minLength: 2, maxLength: 12 },
);

function chainOf(
  acts: { id: string; action: string; target: string; reason: string | null; amount: number }[],
) {
  let end: ChainEnd = CHAIN_START;
  const entries: AuditEntry[] = [];
  for (const { amount, ...act } of acts) {
    const draft: AuditDraft = {
      ...act,
      actor: { operator: 'opr_1', name: 'Ada', roles: ['operator'] },
      tenantId: null,
      requestId: null,
      approval: null,
      before: { amount },
      after: null,
    };
    const entry = nextEntry(end, draft, new Date(amount));
    entries.push(entry);
    end = { sequence: entry._id, hash: entry.hash };
  }
  return { entries, end };
}

function problemsOf(entries: readonly AuditEntry[], end: ChainEnd) {
  const chain = followChain();
  for (const entry of entries) chain.check(entry);
  return chain.finish(end).problems;
}

test('a chain of entries as they were written has no problem', () => {
  fc.assert(
    fc.property(drafts, (acts) => {
      const { entries, end } = chainOf(acts);
      expect(problemsOf(entries, end)).toEqual([]);
    }),
  );
});

test('a chain has no problem after MongoDB has stored it, also if a text has a lone surrogate', () => {
  const act = { id: 'a', action: 'transfers.fail', target: 'trf_1', reason: 'x\ud800', amount: 1 };
  const { entries, end } = chainOf([act, { ...act, id: 'b', reason: null }]);
  const stored = entries.map((entry) => BSON.deserialize(BSON.serialize(entry)) as AuditEntry);
  expect(stored[0]?.reason).toBe('x\ufffd');
  expect(problemsOf(stored, end)).toEqual([]);
});

test('every removed entry is found, also the last one', () => {
  fc.assert(
    fc.property(drafts, fc.nat(), (acts, at) => {
      const { entries, end } = chainOf(acts);
      const left = entries.toSpliced(at % entries.length, 1);
      expect(problemsOf(left, end)).not.toEqual([]);
    }),
  );
});

test('every changed field of an entry is found', () => {
  const changes: ((entry: AuditEntry) => AuditEntry)[] = [
    (entry) => ({ ...entry, reason: `${entry.reason ?? ''}!` }),
    (entry) => ({ ...entry, target: `${entry.target}!` }),
    (entry) => ({ ...entry, actor: { ...entry.actor, name: 'Eve' } }),
    (entry) => ({ ...entry, actor: { ...entry.actor, operator: null } }),
    (entry) => ({ ...entry, before: { amount: -1 } }),
    (entry) => ({ ...entry, after: {} }),
    (entry) => ({ ...entry, at: new Date(entry.at.getTime() + 1) }),
    (entry) => ({ ...entry, approval: 'apr_1' }),
    (entry) => ({ ...entry, hash: 'f'.repeat(64) }),
  ];
  fc.assert(
    fc.property(drafts, fc.nat(), fc.constantFrom(...changes), (acts, at, change) => {
      const { entries, end } = chainOf(acts);
      const index = at % entries.length;
      const changed = entries.map((entry, i) => (i === index ? change(entry) : entry));
      expect(problemsOf(changed, end)).not.toEqual([]);
    }),
  );
});

test('two entries that changed places are found, also if their numbers are exchanged', () => {
  fc.assert(
    fc.property(drafts, fc.nat(), fc.nat(), (acts, a, b) => {
      const { entries, end } = chainOf(acts);
      const [one, other] = [a % entries.length, b % entries.length];
      fc.pre(one !== other);
      const moved = entries.map((entry, i) => {
        const from = i === one ? other : i === other ? one : i;
        return { ...(entries[from] as AuditEntry), _id: entry._id };
      });
      expect(problemsOf(moved, end)).not.toEqual([]);
    }),
  );
});
