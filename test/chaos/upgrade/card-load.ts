import { setTimeout as sleep } from 'node:timers/promises';
import {
  authorizationId,
  type CardAuthorization,
} from '../../../src/capabilities/card-authorizations/record.js';
import type { Card } from '../../../src/capabilities/cards/record.js';
import { eventually } from '../../support/eventually.js';
import { issuerClient, type Decision } from '../../support/issuer.js';
import type { Service } from '../../support/service.js';

/** Payments that stay open from one phase to the next one, which another build may end. */
const KEPT_OPEN = 6;
const PAUSE_MS = 500;
/** The reasons of payments for which the issuer got no decision in time, while the process at its address was exchanged. */
const IN_VAIN: ReadonlySet<string> = new Set([
  'deadline_exceeded',
  'no_answer',
  'service_unavailable',
]);

/**
 * Payments with these cards, one after the other, until `stop`. The issuer sends all requests to the address of the first API.
 */
export function startCardLoad(service: Service, tenant: string, cards: readonly string[]) {
  const issuer = issuerClient(service);
  const decisions: Decision[] = [];
  const ended: Decision[] = [];
  const stopping = { now: false };
  const { db } = service.deps.database;
  const stored = ({ token }: Decision) =>
    db
      .collection<CardAuthorization>('card_authorizations')
      .findOne({ _id: authorizationId('sandbox-bank', token), tenant_id: tenant });
  const approved = () => decisions.filter((each) => each.approved);

  async function pay(): Promise<void> {
    for (let i = 0; !stopping.now; i += 1) {
      const card = String(cards[i % cards.length]);
      decisions.push(await issuer.pay(card, { amount_minor: 1_000, channel: 'online' }));
      await sleep(PAUSE_MS);
    }
  }
  const paying = pay();
  paying.catch(() => undefined);

  /** Clears or reverses the oldest open payments in turn, and waits until the records say so. */
  async function end(keptOpen: number): Promise<void> {
    const open = approved().slice(ended.length, keptOpen === 0 ? undefined : -keptOpen);
    for (const [i, one] of open.entries()) {
      const outcome = i % 2 === 0 ? 'cleared' : 'reversed';
      expect([one.token, await issuer.end(one.token, outcome)]).toEqual([one.token, 200]);
      await eventually(`${one.token} is ${outcome}`, async () =>
        (await stored(one))?.status === outcome ? true : undefined,
      );
      ended.push(one);
    }
  }

  return {
    /** Waits until further payments are approved, and ends all but the latest ones. */
    async phase(): Promise<void> {
      const before = approved().length;
      await eventually('payments with the cards are approved', () =>
        approved().length > before + 1 ? true : undefined,
      );
      await end(KEPT_OPEN);
    },

    /** Ends the load and all of its payments. Returns the differences between the decisions, the records and the cards. */
    async stop(): Promise<string[]> {
      stopping.now = true;
      await paying;
      await end(0);
      const differences: string[] = [];
      for (const decision of decisions) {
        const { token, code } = decision;
        const record = await stored(decision);
        if (decision.approved && !record) differences.push(`${token}: the approval is lost`);
        if (!decision.approved && !IN_VAIN.has(code)) differences.push(`${token}: ${code}`);
      }
      return [...differences, ...(await heldOnCards())];
    },

    /** Ends the load without a verdict. */
    end: () => void (stopping.now = true),

    approved: () => approved().length,
  };

  /** A request without an answer in time may have been approved here: its hold is released once the issuer's word arrives. */
  async function heldOnCards(): Promise<string[]> {
    const holds = () =>
      db
        .collection<Card>('cards')
        .find({ _id: { $in: [...cards] }, tenant_id: tenant, open_holds: { $ne: 0 } })
        .toArray();
    await eventually('no hold is open', async () =>
      (await holds()).length === 0 ? true : undefined,
    ).catch(() => undefined);
    return (await holds()).map(({ _id, held_minor: held }) => `${_id} still holds ${held}`);
  }
}
