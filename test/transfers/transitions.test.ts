import {
  transitionTransfer,
  type TransferFact,
} from '../../src/capabilities/transfers/transitions.js';
import { after, confirmed, paid, rejected, reversed } from '../support/transfer-facts.js';
import { NOW, pendingTransfer } from '../support/transfers.js';

describe('transitions of a transfer', () => {
  test('an unforced release is stale after a submission', () => {
    const released: TransferFact = { ...rejected, via: 'operator', ifNotSubmitted: true };
    expect(after([released])).toMatchObject({ verdicts: ['stale'], postings: [], gained: 0n });
    expect(after([released], 0n, { status: 'pending', submissions: 0 })).toMatchObject({
      verdicts: ['applied'],
      transfer: { status: 'failed' },
      gained: 251_000n,
    });
  });

  describe('another amount than was requested', () => {
    const report = (amountMinor: bigint): TransferFact => ({ ...paid, amountMinor });
    const accepted = (amountMinor: bigint): TransferFact => ({
      ...confirmed,
      via: 'operator',
      amountMinor,
      sessionId: 's1',
    });
    const takenBack = (amountMinor: bigint): TransferFact => ({ ...reversed, amountMinor });

    test('moves no money and raises attention; an operator’s acceptance ends the transfer, and a rest returns to the wallet', () => {
      const { transfer, postings, verdicts, gained } = after([
        report(249_000n),
        accepted(249_000n),
      ]);
      expect(verdicts).toEqual(['attention', 'applied']);
      expect(transfer).toMatchObject({
        status: 'completed',
        attention: null,
        amount_minor: 250_000n,
        settled_amount_minor: 249_000n,
        session_id: 's1',
      });
      expect([postings, gained]).toEqual([['resolve'], 1_000n]);
    });

    test('a surplus is not taken from the wallet', () => {
      const { transfer, gained, owed } = after([report(260_000n), accepted(260_000n)]);
      expect(transfer).toMatchObject({ status: 'completed', settled_amount_minor: 260_000n });
      expect([gained, owed]).toEqual([0n, 0n]);
    });

    test('once it is accepted, the same report changes nothing, the old amount raises attention, and its reversal returns the whole hold', () => {
      for (const amount of [249_000n, 260_000n]) {
        const again = after([report(amount), accepted(amount), report(amount), accepted(amount)]);
        expect(again.verdicts).toEqual(['attention', 'applied', 'unchanged', 'unchanged']);
        const old = after([report(amount), accepted(amount), paid]);
        expect(old.verdicts.at(-1)).toBe('attention');
        const back = after([report(amount), accepted(amount), takenBack(amount)]);
        expect(back.transfer).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
        expect([back.gained, back.owed]).toEqual([251_000n, 0n]);
      }
    });

    test('that is reported after the release of the hold is debited once an operator accepts it', () => {
      const { transfer, postings, gained } = after(
        [rejected, report(249_000n), accepted(249_000n)],
        0n,
      );
      expect(transfer).toMatchObject({ status: 'completed', settled_amount_minor: 249_000n });
      expect(postings).toEqual(['resolve', 'suspense', 'suspense-debit']);
      expect(gained).toBe(1_000n);
    });

    test('the requested amount, accepted by an operator, is no other amount', () => {
      const { transfer, gained } = after([accepted(250_000n)]);
      expect(transfer).toMatchObject({ status: 'completed', settled_amount_minor: null });
      expect(gained).toBe(0n);
    });
  });

  test('a reversal repays the receivable before it credits the wallet', () => {
    const { gained, owed, transfer } = after([rejected, paid, confirmed, reversed], -251_000n);
    // The wallet was empty at the suspense debit.
    expect([gained, owed]).toEqual([251_000n, 0n]);
    expect(transfer.status).toBe('failed');
  });

  test('a payment captures the hold and completes the transfer', () => {
    const { transfer, postings, gained } = after([paid]);
    expect(transfer).toMatchObject({
      status: 'completed',
      session_id: 's1',
      completed_at: NOW,
      next_check_at: null,
      failure: null,
    });
    expect(postings).toEqual(['resolve']);
    expect(gained).toBe(0n);
  });

  test('a rejection releases amount and fee, and fails the transfer with its code', () => {
    const { transfer, postings, gained } = after([rejected]);
    expect(transfer).toMatchObject({
      status: 'failed',
      failure: { code: 'account_closed' },
      completed_at: null,
    });
    expect(postings).toEqual(['resolve']);
    expect(gained).toBe(251_000n);
  });

  test('a repeated fact changes nothing', () => {
    for (const fact of [paid, rejected, reversed]) {
      const { verdicts, postings } = after([fact, fact, fact]);
      expect(verdicts).toEqual(
        ['applied', 'unchanged', 'unchanged'].map((v, i) =>
          fact === reversed && i > 0 ? 'unchanged' : v,
        ),
      );
      expect(new Set(postings).size).toBe(postings.length);
    }
  });

  test('a reversal after success credits amount and fee back', () => {
    const { transfer, postings, gained } = after([paid, reversed]);
    expect(transfer).toMatchObject({
      status: 'failed',
      reversed_at: NOW,
      failure: { code: 'reversed' },
    });
    expect(postings).toEqual(['resolve', 'reversal']);
    expect(gained).toBe(251_000n);
  });

  test('a reversal before its payment makes the same postings as one after it', () => {
    const early = after([reversed, paid]);
    const late = after([paid, reversed, paid]);
    expect(early.verdicts).toEqual(['applied', 'stale']);
    expect(late.verdicts).toEqual(['applied', 'applied', 'stale']);
    expect(early.postings).toEqual(late.postings);
    expect(early.gained).toBe(late.gained);
    expect(early.transfer.status).toBe(late.transfer.status);
  });

  describe('the price of the bank', () => {
    const priced: TransferFact = { ...paid, feeMinor: 1_075n };

    test('is paid from our fees once, reported with the payment or later, before its reversal or after it', () => {
      for (const facts of [[priced], [paid, priced], [priced, priced, paid]]) {
        const { transfer, postings, gained } = after(facts);
        expect(transfer).toMatchObject({ status: 'completed', provider_fee_minor: 1_075n });
        expect([postings, gained]).toEqual([['resolve', 'provider-fee'], 0n]);
      }
      for (const facts of [
        [priced, reversed],
        [reversed, priced],
        [paid, reversed, priced, priced],
      ]) {
        const { transfer, postings, gained } = after(facts);
        expect(transfer).toMatchObject({ status: 'failed', provider_fee_minor: 1_075n });
        expect(postings.toSorted()).toEqual(['provider-fee', 'resolve', 'reversal']);
        expect(gained).toBe(251_000n);
      }
      const { postings } = transitionTransfer(
        pendingTransfer({ status: 'processing' }),
        priced,
        NOW,
        {
          availableMinor: 0n,
          receivableMinor: 0n,
        },
      );
      expect(postings.at(-1)?.legs).toEqual([
        { account: 'fees', amountMinor: -1_075n },
        { account: 'provider-fees:sandbox-bank', amountMinor: 1_075n },
      ]);
    });

    test('is booked for a payment in suspense too, and none is booked for another amount or for nothing', () => {
      expect(after([rejected, priced]).postings).toEqual(['resolve', 'suspense', 'provider-fee']);
      expect(after([{ ...priced, amountMinor: 125_000n }]).postings).toEqual([]);
      const free = after([{ ...paid, feeMinor: 0n }, paid]);
      expect([free.postings, free.transfer.provider_fee_minor]).toEqual([['resolve'], 0n]);
    });

    test('that differs from the booked one moves nothing and calls an operator once', () => {
      const other: TransferFact = { ...paid, feeMinor: 2_000n };
      const { transfer, verdicts, postings } = after([priced, other, other]);
      expect(verdicts).toEqual(['applied', 'attention', 'unchanged']);
      expect(transfer.attention?.reason).toBe('the bank reports another price than before');
      expect([postings, transfer.provider_fee_minor]).toEqual([
        ['resolve', 'provider-fee'],
        1_075n,
      ]);
    });
  });

  test('a payment that is proven after the release goes to suspense and needs attention', () => {
    const { transfer, verdicts, postings, gained } = after([rejected, paid, paid]);
    expect(verdicts).toEqual(['applied', 'attention', 'unchanged']);
    expect(transfer).toMatchObject({ status: 'failed', in_suspense: true });
    expect(transfer.attention?.reason).toMatch(/after the hold had been released/);
    expect(postings).toEqual(['resolve', 'suspense']);
    expect(gained).toBe(251_000n);
  });

  test('a suspense debit completes the transfer, and a receivable covers the missing balance', () => {
    const rich = after([rejected, paid, confirmed]);
    expect(rich.transfer).toMatchObject({
      status: 'completed',
      in_suspense: false,
      failure: null,
      attention: null,
    });
    expect(rich.gained).toBe(0n);
    expect(rich.owed).toBe(0n);
    const poor = after([rejected, paid, confirmed], -200_000n);
    expect(poor.owed).toBe(200_000n);
    expect(poor.gained - poor.owed).toBe(0n);
    expect(poor.transfer.attention?.reason).toMatch(/could not cover/);
  });

  test('a reversal of a payment in suspense clears the suspense', () => {
    const { transfer, postings } = after([rejected, paid, reversed]);
    expect(transfer).toMatchObject({
      status: 'failed',
      in_suspense: false,
      attention: null,
      reversed_at: NOW,
    });
    expect(postings).toEqual(['resolve', 'suspense', 'suspense-reversal']);
  });

  test('a rejection of a completed transfer moves no money and needs attention once', () => {
    const { transfer, verdicts, postings } = after([paid, rejected, rejected]);
    expect(verdicts).toEqual(['applied', 'attention', 'unchanged']);
    expect(transfer.status).toBe('completed');
    expect(postings).toEqual(['resolve']);
  });

  test('a payment of another amount is a mismatch and moves no money', () => {
    const { transfer, verdicts, postings } = after([{ ...paid, amountMinor: 1n }]);
    expect(verdicts).toEqual(['attention']);
    expect(transfer).toMatchObject({ status: 'processing' });
    expect(transfer.next_check_at).not.toBeNull();
    expect(postings).toEqual([]);
  });

  test('an operator can confirm a payment in suspense only', () => {
    for (const before of [[], [paid], [rejected], [reversed]]) {
      const { verdicts } = after([...before, confirmed]);
      expect(['stale', 'unchanged']).toContain(verdicts.at(-1));
    }
  });

  test('every change is on the timeline with its actor', () => {
    const { transfer } = after([
      { ...paid, via: 'webhook', actor: 'sandbox-bank', providerRequestId: 'evt_1' },
      reversed,
    ]);
    expect(transfer.timeline.slice(1)).toMatchObject([
      { type: 'webhook', actor: 'sandbox-bank', detail: 'succeeded', provider_request_id: 'evt_1' },
      { type: 'captured', actor: 'bursar' },
      { type: 'provider_answer', detail: 'reversed' },
      { type: 'reversed', actor: 'bursar' },
    ]);
  });
});
