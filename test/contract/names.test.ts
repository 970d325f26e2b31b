import { createActivities } from '../../activities/index.js';
import { batchWorkflowId } from '../../src/transfers/batch.js';
import { authorizationWorkflowId } from '../../src/cards/authorizations/authorization.js';
import { cardEventWorkflowId, replayWorkflowId } from '../../src/cards/events/reports.js';
import { operationWorkflowId, type CardOperationType } from '../../src/cards/operation.js';
import { renewalWorkflowId, scheduleId } from '../../src/payments/recurring/recurring-charge.js';
import { chargeWorkflowId } from '../../src/payments/charges/charge.js';
import { refundWorkflowId } from '../../src/payments/refunds/refund.js';
import {
  bulkQueue,
  issuerCalls,
  paymentCalls,
  providerQueue,
  replaysQueue,
} from '../../src/temporal/queues.js';
import { OPERATOR_KINDS } from '../../src/pursuits/operator.js';
import { searchAttributes } from '../../src/temporal/search-attributes.js';
import { waveWorkflowId } from '../../src/transfers/waves.js';
import { transferWorkflowId } from '../../src/transfers/transfer.js';
import { deliveryWorkflowId, webhooksQueue } from '../../src/webhooks/outbound/reports.js';
import * as workflows from '../../workflows/index.js';
import { wakeSignal } from '../../workflows/operator-inbox.js';

describe('names that histories, saved queries and scripts hold on to', () => {
  test('workflows, their ids, signals and queues', () => {
    expect(Object.keys(workflows).toSorted()).toEqual([
      'cardAuthorization',
      'cardControl',
      'cardEvent',
      'cardFunding',
      'cardIssuing',
      'charge',
      'delivery',
      'refund',
      'renewal',
      'replay',
      'transfer',
      'transferBatch',
      'transferWave',
    ]);
    expect(batchWorkflowId('btr_1')).toBe('bulk/btr_1');
    expect(waveWorkflowId('trf_1')).toBe('wave/trf_1');
    expect(bulkQueue('bursar', 'sandbox-bank')).toBe('bursar-sandbox-bank-bulk');
    expect(deliveryWorkflowId('dlv_1')).toBe('delivery/dlv_1');
    expect(webhooksQueue('bursar')).toBe('bursar-webhooks');
    expect(cardEventWorkflowId('cwe_1')).toBe('card-event/cwe_1');
    expect(replayWorkflowId('rpl_1')).toBe('replay/rpl_1');
    expect(replaysQueue('bursar')).toBe('bursar-replays');
    expect(transferWorkflowId('trf_1')).toBe('transfer/trf_1');
    const operation = (type: CardOperationType, unwinds: string | null = null) =>
      operationWorkflowId({ _id: 'cop_1', type, card: 'crd_1', unwinds });
    expect(operation('issue')).toBe('card-issuing/cop_1');
    for (const type of ['fund', 'jit_fund', 'auto_reload'] as const) {
      expect(operation(type)).toBe('card-funding/cop_1');
    }
    expect(operation('unwind', 'cop_2')).toBe('card-funding/cop_2');
    for (const type of ['lock', 'unlock', 'close'] as const) {
      expect(operation(type)).toBe('card/crd_1');
    }
    expect(renewalWorkflowId('rec_1')).toBe('renewal/rec_1');
    expect(scheduleId('rec_1')).toBe('recurring/rec_1');
    expect(chargeWorkflowId('chg_1')).toBe('charge/chg_1');
    expect(refundWorkflowId('ref_1')).toBe('refund/ref_1');
    expect(authorizationWorkflowId('aut_1')).toBe('card-authorization/aut_1');
    expect(wakeSignal.name).toBe('wake');
    expect(OPERATOR_KINDS).toEqual(['retry', 'verify', 'complete', 'fail']);
    expect(providerQueue('bursar', 'sandbox-bank')).toBe('bursar-sandbox-bank');
    expect(issuerCalls('sandbox-bank')).toBe('sandbox-bank-cards');
    expect(paymentCalls('sandbox-bank')).toBe('sandbox-bank-payments');
  });

  test('activities', () => {
    // Only the names are looked at: nothing of the dependencies is used.
    const activities = createActivities({} as Parameters<typeof createActivities>[0]);
    expect(Object.keys(activities).toSorted()).toEqual([
      'applyCardEvent',
      'closeBatch',
      'deliverWebhook',
      'expireFunding',
      'followAuthorization',
      'handOverWave',
      'issueCard',
      'issueCardHere',
      'letOutWave',
      'nextCardControl',
      'noteCancellation',
      'noteCardCancellation',
      'noteCardOperator',
      'noteChargeCancellation',
      'noteChargeOperator',
      'noteOperator',
      'noteRefundCancellation',
      'noteRefundOperator',
      'raiseAttention',
      'raiseCardAttention',
      'raiseChargeAttention',
      'raiseRefundAttention',
      'readCardStanding',
      'readChargeStanding',
      'readRefundStanding',
      'readStanding',
      'renewPeriod',
      'replayCardEvent',
      'resolveRecipient',
      'setCardState',
      'setCardStateHere',
      'settleCardIssue',
      'settleCardState',
      'settleCharge',
      'settleFunding',
      'settleRefund',
      'settleTransfer',
      'submitBatchPart',
      'submitCharge',
      'submitChargeHere',
      'submitFunding',
      'submitFundingHere',
      'submitRefund',
      'submitRefundHere',
      'submitTransfer',
      'submitTransferHere',
      'verifyCardIssue',
      'verifyCardState',
      'verifyCharge',
      'verifyFunding',
      'verifyRefund',
      'verifyTransfer',
    ]);
  });

  test('search attributes', () => {
    const names = Object.values(searchAttributes).map(({ name, type }) => [name, type]);
    expect(names).toEqual([
      ['tenant', 'KEYWORD'],
      ['provider', 'KEYWORD'],
      ['reference', 'KEYWORD'],
      ['amount', 'INT'],
      ['attention', 'BOOL'],
    ]);
  });
});
