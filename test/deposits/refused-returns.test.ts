import { last, REFUSED, type Fact } from './facts.js';

const contradicted: Fact[] = [...REFUSED, 'return of another amount'];

test.each(['assigned', 'moved'] as const)(
  'a deposit whose return was refused, and is then proven with another amount, cannot be %s: the money may be with its sender',
  (given) => {
    expect(last([...REFUSED, given]).verdict).toBe('applied');
    expect(last(contradicted).next.last_return?.refused).toBe(false);
    expect(last([...contradicted, given])).toMatchObject({ verdict: 'stale', step: null });
  },
);
