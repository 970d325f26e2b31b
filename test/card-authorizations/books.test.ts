import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import { TERMS } from '../support/authorizations.js';
import { bookProblems, type BookedAuthorization } from '../support/authorization-books.js';
import { after, checkBooks, cleared, fact, message, postingsOf } from '../support/one-payment.js';

/** A payment of 4,000 of which 1,000 is cleared, and then 11,000 in all: the card has 10,000, and the wallet pays the rest. */
const payment = () =>
  after(
    [
      message('m', 4_000n),
      cleared(1_000n, 1, true),
      cleared(10_000n, 2),
      fact('refunded', 3, { minor: 2_000n }),
    ],
    {},
    50_000n,
  );

/** The problems of this payment's books after a change of them. */
function problemsAfter(
  change: (books: { one: CardAuthorization; legs: Map<string, Map<string, bigint>> }) => void,
): string[] {
  const { one, state } = payment();
  const legs = new Map(
    postingsOf(state, one._id).map(({ _id, legs: of }) => [
      _id.slice(one._id.length + 1),
      new Map(of.map(({ account, amount_minor: minor }) => [account, minor])),
    ]),
  );
  const books = { one: structuredClone(one), legs };
  change(books);
  const postings: BookedAuthorization['postings'] = [...legs].map(([step, of]) => ({
    _id: `${one._id}/${step}`,
    legs: [...of].map(([account, amount_minor]) => ({ account, amount_minor })),
  }));
  const { one: changed } = books;
  return bookProblems({ one: changed, postings, funding: 'prepaid', tolerance: TERMS }).map(
    (each) => each.replaceAll(one._id, 'aut'),
  );
}

const CARD = 'card:crd_a:available';
const HELD = 'card:crd_a:held';
const WALLET = 'wallet:ten_a:available';
const NETWORK = 'network:sandbox-bank';

test('the books of a payment follow from its facts and its payers', () => {
  checkBooks(payment().state);
  expect(problemsAfter(() => undefined)).toEqual([]);
});

test('an over-clearing that calls no operator is reported', () => {
  const problems = problemsAfter(({ one }) => {
    one.timeline = one.timeline.filter(({ type }) => type !== 'attention_raised');
  });
  expect(problems).toEqual(['aut took 11000 of 4000 approved, and calls no operator']);
});

test('money that goes back to another payer is reported', () => {
  const problems = problemsAfter(({ legs }) =>
    legs.set(
      'refund',
      new Map([
        [CARD, 2_000n],
        [NETWORK, -2_000n],
      ]),
    ),
  );
  expect(problems).toEqual([
    'aut: the card gave 8000 and the wallet 1000, whose parts are 9000 and 0',
    'aut/refund: the card keeps 2000 beside what is owed, or paid in its place',
  ]);
});

test('two postings whose errors cancel each other are reported', () => {
  const problems = problemsAfter(({ legs }) => {
    const move = (step: string, minor: bigint) => {
      const of = legs.get(step);
      of?.set(CARD, (of.get(CARD) ?? 0n) + minor);
      of?.set(WALLET, (of.get(WALLET) ?? 0n) - minor);
    };
    move('clear-2', 500n);
    move('refund', -500n);
  });
  expect(problems).toEqual([
    'aut/clear-2: the card keeps 500 beside what is owed, or paid in its place',
  ]);
});

test('a partial clearing that releases the rest of the hold is reported', () => {
  const problems = problemsAfter(({ legs }) =>
    legs.set(
      'clear',
      new Map([
        [HELD, -4_000n],
        [CARD, 3_000n],
        [NETWORK, 1_000n],
      ]),
    ),
  );
  expect(problems[0]).toBe(
    'aut/clear: by its fact -1000 is held and 1000 taken, by its posting -4000 and 1000',
  );
});

test('a refund without a posting is reported', () => {
  expect(problemsAfter(({ legs }) => legs.delete('refund'))).toEqual([
    'aut/refund: by its fact 0 is held and -2000 taken, by its posting 0 and 0',
    'aut: the card gave 10000 and the wallet 1000, whose parts are 9000 and 0',
    'aut/refund: by its facts 0 is held on the card, 0 in the wallet, and -2000 taken',
  ]);
});

test('a posting that no fact explains is reported', () => {
  const problems = problemsAfter(({ legs }) =>
    legs.set(
      'refund-2',
      new Map([
        [WALLET, 1n],
        [NETWORK, -1n],
      ]),
    ),
  );
  expect(problems).toEqual([
    'aut/refund-2 belongs to no fact',
    'aut: the card gave 9000 and the wallet -1, whose parts are 8999 and 0',
  ]);
});

test('other payers than those of the postings are reported', () => {
  const problems = problemsAfter(({ one }) => {
    one.payments = [{ from: 'wallet', minor: 9_000n }];
  });
  expect(problems).toEqual([
    'aut: the card gave 9000 and the wallet 0, whose parts are 0 and 9000',
    'aut was paid by wallet 9000, by its facts by card 9000',
  ]);
});
