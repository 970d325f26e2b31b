import { cardAuthorizations } from '../../src/capabilities/card-authorizations/record.js';
import type { Card } from '../../src/capabilities/cards/record.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { accounts, posting } from '../../src/core/ledger/posting.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { decideAuthorizationMutation, standInMutation } from '../support/authorizations.js';
import { balances, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { after, checkBooks, cleared, fact, message } from '../support/one-payment.js';
import { NOW } from '../support/transfers.js';

/** The end of a payment after these messages, with the books checked. */
function endOf(messages: AnyMutation[], card: Partial<Card>, walletMinor: bigint) {
  const { state, one, ledger } = after(messages, card, walletMinor);
  checkBooks(state);
  return { ledger, payments: one.payments, called: one.attention?.reason ?? null };
}

/** The tenant has transferred the whole wallet out. */
function withoutWallet(state: Snapshot): Snapshot {
  const wallet = state.wallets.get('ten_a') ?? emptyWallet('ten_a');
  const out = posting('out', 'ten_a', NOW, [
    { account: accounts.external, amountMinor: wallet.availableMinor },
    { account: accounts.available('ten_a'), amountMinor: -wallet.availableMinor },
  ]);
  return {
    ...state,
    wallets: new Map([['ten_a', { ...wallet, availableMinor: 0n }]]),
    postings: new Map([...state.postings, [out.id, out]]),
  };
}

/** The balances and the payment, with the books checked. */
function seen(state: Snapshot) {
  checkBooks(state);
  const books = balances(state);
  const of = (account: string) => books.get(account) ?? 0n;
  const [one] = state.records.all(cardAuthorizations);
  const ledger = {
    card: of('card:crd_a:available'),
    wallet: of('wallet:ten_a:available'),
    owed: -of('receivable:ten_a'),
  };
  return { ledger, payments: one?.payments, called: one?.attention?.reason ?? null };
}

describe('a refund that is reported before its clearing', () => {
  const refunded = (minor: bigint) => fact('refunded', 2, { minor });
  const own = { available_minor: 5_000n };
  const WALLET = 100_000n;

  test('of more than was approved goes back to the wallet, which pays for it', () => {
    const asked = message('m', 5_000n);
    const [taken, back] = [cleared(50_000n, 1), refunded(50_000n)];
    const inOrder = endOf([asked, taken, back], own, WALLET);
    expect(inOrder).toMatchObject({ ledger: { card: 5_000n, wallet: WALLET }, payments: [] });
    expect(inOrder.called).toBe('more was taken than was approved');
    expect(endOf([asked, back, taken], own, WALLET)).toEqual(inOrder);
  });

  test('goes back to the balance of a jit card that pays for it', () => {
    const jit = { funding: 'jit', ...own } as const;
    const asked = message('m', 5_000n);
    const [taken, back] = [cleared(5_000n, 1), refunded(5_000n)];
    const inOrder = endOf([asked, taken, back], jit, WALLET);
    expect(inOrder).toMatchObject({ ledger: { card: 5_000n, wallet: WALLET }, called: null });
    expect(endOf([asked, back, taken], jit, WALLET)).toEqual(inOrder);
  });

  /** The refund of a payment of 5,000 by the card and 45,000 by the wallet, which the holder spends before its clearing comes. */
  const spent = [
    message('m', 5_000n),
    refunded(50_000n),
    decideAuthorizationMutation({ token: 'auth_2', messageId: 'other', amountMinor: 48_000n }),
    cleared(50_000n, 1),
  ];

  test('and was spent meanwhile is paid by the wallet, and the card is not below zero', () => {
    const { ledger, payments } = endOf(spent, own, WALLET);
    expect(ledger).toMatchObject({ card: 0n, held: 48_000n, owed: 0n, network: 0n });
    expect([payments, ledger.wallet]).toEqual([[], WALLET - 43_000n]);
  });

  test('and was spent meanwhile is owed as far as the wallet lacks it, and an operator is called', () => {
    const { ledger, called } = endOf(spent, own, 45_000n);
    expect(ledger).toMatchObject({ card: 0n, wallet: 2_000n, owed: 0n });
    expect(called).toBe('more was taken than was approved');
    const poor = endOf(spent, own, 1_000n);
    expect(poor.ledger).toMatchObject({ card: 0n, wallet: 0n, owed: 42_000n });
    expect(poor.called).toBe('more was taken than there was: the tenant owes the rest');
  });

  test('and was spent meanwhile is given back to the wallet by what returns to the card later', () => {
    const again = fact('refunded', 3, { minor: 50_000n });
    const { ledger } = endOf([...spent, again], own, WALLET);
    expect(ledger).toMatchObject({ card: 7_000n, wallet: WALLET, network: -50_000n });
  });
});

test('the division between card and wallet is that of the time of a report, whatever it was on arrival', () => {
  const own = { available_minor: 5_000n };
  const [corrected, expired] = [fact('corrected', 1, { minor: 300n }), fact('expired', 2)];
  const inOrder = endOf([message('m', 5_000n), corrected, expired], own, 4_000n);
  expect(inOrder.ledger).toMatchObject({ card: 5_000n, wallet: 3_700n });
  expect(endOf([message('m', 5_000n), expired, corrected], own, 4_000n)).toEqual(inOrder);
});

describe('a late report takes from card and wallet what they have, and nobody borrows to move money between them', () => {
  const own = { available_minor: 5_000n };

  test('from a wallet that has spent the refund: the card gets nothing', () => {
    const jit = { funding: 'jit', ...own } as const;
    const { state } = after([message('m', 5_000n), fact('refunded', 2, { minor: 5_000n })], jit);
    const left = withoutWallet(state);
    const { ledger, payments, called } = seen(run(left, [[cleared(5_000n, 1)]]).state);
    expect(ledger).toEqual({ card: 0n, wallet: 0n, owed: 0n });
    expect([payments, called]).toEqual([[], null]);
    // A refund to the wallet pays the card back.
    const again = run(left, [[cleared(5_000n, 1)], [fact('refunded', 3, { minor: 9_000n })]]).state;
    expect(seen(again).ledger).toEqual({ card: 5_000n, wallet: 4_000n, owed: 0n });
  });

  test('from the card, where the wallet has nothing', () => {
    const [corrected, expired] = [fact('corrected', 1, { minor: 300n }), fact('expired', 2)];
    const { ledger, called } = endOf([message('m', 5_000n), expired, corrected], own, 0n);
    expect(ledger).toMatchObject({ card: 4_700n, wallet: 0n, owed: 0n, network: 300n });
    expect(called).toBeNull();
  });

  test('from the wallet, and an operator is called for what the card has spent', () => {
    const messages = [
      message('m', 5_000n),
      fact('refunded', 2, { minor: 6_000n }),
      decideAuthorizationMutation({ token: 'auth_2', messageId: 'other', amountMinor: 6_000n }),
      cleared(6_000n, 1),
    ];
    const { ledger, called } = endOf(messages, own, 9_000n);
    expect(ledger).toMatchObject({ card: 0n, wallet: 8_000n, owed: 0n, network: 0n });
    expect(called).toBe('the wallet has paid what the card had spent');
  });
});

describe('an approval in our place that is reported late', () => {
  const [taken, standIn] = [cleared(5_000n, 2), standInMutation(5_000n, { message: 'm', at: 1 })];

  test('leaves to a jit card what it has paid', () => {
    const jit = { funding: 'jit', available_minor: 5_000n } as const;
    const inOrder = endOf([standIn, taken], jit, 100_000n);
    expect(inOrder.ledger).toMatchObject({ card: 0n, wallet: 100_000n });
    const { ledger, payments } = endOf([taken, standIn], jit, 100_000n);
    expect({ ledger, payments, called: null }).toEqual(inOrder);
  });

  test('takes nothing from what has come to the card since', () => {
    const funded = fact('refunded', 3, { minor: 10_000n, token: 'auth_2' });
    const { ledger } = endOf([taken, funded, standIn], { available_minor: 3_000n }, 10_000n);
    expect(ledger).toMatchObject({ card: 10_000n, wallet: 8_000n, held: 0n });
  });

  test('is held on the card as far as its earlier payments leave money there', () => {
    const jit = { funding: 'jit', available_minor: 5_000n } as const;
    const messages = [cleared(3_000n, 0, true), standIn];
    const inOrder = endOf(messages, jit, 9_000n);
    expect(inOrder.ledger).toMatchObject({ card: 0n, held: 2_000n, wallet: 6_000n });
    expect(endOf(messages.toReversed(), jit, 9_000n)).toEqual(inOrder);
  });
});

test('the report of a financial message takes from the card what it has when the report comes', () => {
  const asked = decideAuthorizationMutation({
    messageId: 'm',
    amountMinor: 5_000n,
    kind: 'financial',
  });
  const report = fact('cleared', 2, { key: 'cleared-m', minor: 6_000n });
  const funded = fact('refunded', 1, { minor: 50_000n, token: 'auth_2' });
  const { ledger } = endOf([asked, funded, report], { available_minor: 5_000n }, 0n);
  expect(ledger).toMatchObject({ card: 49_000n, wallet: 0n, owed: 0n });
  const spent = decideAuthorizationMutation({ token: 'auth_2', amountMinor: 5_000n });
  const later = endOf([asked, spent, report], { available_minor: 10_000n }, 2_000n);
  expect(later.ledger).toMatchObject({ card: 0n, wallet: 1_000n, owed: 0n });
});

test('money that comes to the card later does not pay for what the wallet has paid', () => {
  const own = { available_minor: 5_000n };
  const other = { token: 'auth_2' };
  const messages = [
    message('m', 5_000n),
    cleared(8_000n, 2),
    // Another payment brings money to the card.
    fact('refunded', 3, { minor: 20_000n, ...other }),
    fact('reversed', 1, { minor: 1_000n }),
  ];
  const { ledger } = endOf(messages, own, 4_000n);
  expect(ledger).toMatchObject({ card: 20_000n, wallet: 1_000n, held: 0n });
});

test('a payment that an earlier version has begun has its payers in the order of arrival', () => {
  const jit = { funding: 'jit', available_minor: 5_000n } as const;
  const begun = after([message('m', 5_000n), fact('refunded', 2, { minor: 5_000n })], jit, 4_000n);
  const facts = structuredClone(begun.one.facts);
  for (const one of facts) delete one.card_had_minor;
  begun.state.records.set(cardAuthorizations, { ...begun.one, facts, payments: [] });
  const { state } = run(begun.state, [
    [cleared(5_000n, 1)],
    [fact('refunded', 3, { minor: 2_000n })],
  ]);
  checkBooks(state);
  const books = balances(state);
  expect(books.get('card:crd_a:available')).toBe(2_000n);
  expect(books.get('wallet:ten_a:available')).toBe(9_000n);
});

describe('an operator is called for money that was taken without an approval', () => {
  const own = { available_minor: 500_000n };

  test('if the partial reversal of the approval is reported after the clearing', () => {
    const asked = message('m', 500_000n);
    const messages = [fact('reversed', 1, { minor: 490_000n }), cleared(500_000n, 2)];
    const inOrder = endOf([asked, ...messages], own, 500_000n);
    expect(inOrder.called).toBe('more was taken than was approved');
    expect(endOf([asked, ...messages.toReversed()], own, 500_000n)).toEqual(inOrder);
  });

  test('if the reversal of the approval is reported after the clearing', () => {
    const asked = message('m', 5_000n);
    const messages = [fact('reversed', 1), cleared(5_000n, 2)];
    const inOrder = endOf([asked, ...messages], own, 0n);
    expect(inOrder.called).toBe('money was taken that we had not approved');
    expect(endOf([asked, ...messages.toReversed()], own, 0n)).toEqual(inOrder);
  });

  test('if its reversal is reported before it', () => {
    const asked = message('m', 5_000n);
    const messages = [cleared(50_000n, 1), fact('reversed', 2)];
    const inOrder = endOf([asked, ...messages], own, 0n);
    expect(inOrder.called).toBe('more was taken than was approved');
    expect(endOf([asked, ...messages.toReversed()], own, 0n)).toEqual(inOrder);
  });

  test('once: a later report does not raise the attention of an earlier one again', () => {
    const messages = [
      message('m', 5_000n),
      cleared(8_000n, 1),
      fact('refunded', 2, { minor: 100n }),
    ];
    const { one } = after(messages, own);
    const calls = one.timeline.filter(({ type }) => type === 'attention_raised');
    expect(calls).toHaveLength(1);
  });
});
