import { z } from 'zod';
import { presentCardDispute } from '../../capabilities/card-disputes/presenter.js';
import type { CardDispute } from '../../capabilities/card-disputes/record.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS } from './roles.js';
import { anyId, existing, flag, LISTED, printed, printedList } from './schema.js';

const tag = 'Disputes of card payments';

/** Lists the latest disputes of a card or of a payment, or those that need an operator. */
export const listCardDisputes = operation({
  id: 'listCardDisputes',
  tag,
  method: 'get',
  path: '/card-disputes',
  summary: `List the latest ${LISTED} of a card or of a payment, or those that need an operator`,
  roles: READERS,
  query: z.strictObject({
    card: anyId.optional(),
    authorization: anyId.optional(),
    attention: flag,
  }),
  answer: { status: 200, data: printedList },
});

/** Shows a dispute with everything that is known about it. */
export const getCardDispute = operation({
  id: 'getCardDispute',
  tag,
  method: 'get',
  path: '/card-disputes/{id}',
  summary: 'Show a dispute with its operations and the reports of its issuer',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: z.object({ record: printed, reports: printedList }) },
});

/** The routes for disputes of card payments. Operators act on the operations of a dispute, which it names. */
export const cardDisputeRoutes = ({ cardDisputes: { store } }: OperatorDeps): Route[] => [
  route(listCardDisputes, async (ctx, { query }) => {
    sendData(ctx, 200, (await store.latest(query, LISTED)).map(row));
  }),

  route(getCardDispute, async (ctx, { params }) => {
    const found = await existing(store.find(params.id), 'dispute');
    // The explanation may name people, and does not help an operator.
    const { explanation: _, ...shown } = presentCardDispute(found);
    const record = {
      ...shown,
      tenant: found.tenant_id,
      provider: found.provider,
      submission: found.operation_id,
      withdrawal: found.withdrawal_id,
      asked_next_at: found.verify_at?.toISOString() ?? null,
      silent_since: found.silent_since?.toISOString() ?? null,
      attention: found.attention?.reason ?? null,
    };
    sendData(ctx, 200, { record, reports: found.facts.map(report) });
  }),
];

const row = (dispute: Omit<CardDispute, 'facts'>) => ({
  id: dispute._id,
  card: dispute.card_id,
  authorization: dispute.authorization_id,
  tenant: dispute.tenant_id,
  status: dispute.status,
  amount_minor: toWireAmount(dispute.amount_minor),
  credited_minor: toWireAmount(dispute.credited_minor),
  attention: dispute.attention?.reason ?? null,
  created_at: dispute.created_at.toISOString(),
});

const report = ({ at, kind, amount_minor: amount, code }: CardDispute['facts'][number]) => ({
  at: at.toISOString(),
  report: kind,
  amount_minor: toWireAmount(amount),
  code,
});
