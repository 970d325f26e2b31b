import { createActivities } from '../../activities/index.js';
import { batchWorkflowId } from '../../src/transfers/batch.js';
import { cardEventWorkflowId, replayWorkflowId } from '../../src/cards/events/reports.js';
import { bulkQueue, providerQueue, replaysQueue } from '../../src/temporal/queues.js';
import { OPERATOR_KINDS } from '../../src/pursuits/operator.js';
import { searchAttributes } from '../../src/temporal/search-attributes.js';
import { transferWorkflowId } from '../../src/transfers/transfer.js';
import { deliveryWorkflowId, webhooksQueue } from '../../src/webhooks/outbound/reports.js';
import * as workflows from '../../workflows/index.js';
import { wakeSignal } from '../../workflows/operator-inbox.js';

describe('names that histories, saved queries and scripts hold on to', () => {
  test('workflows, their ids, signals and queues', () => {
    expect(Object.keys(workflows).toSorted()).toEqual([
      'cardEvent',
      'delivery',
      'replay',
      'transfer',
      'transferBatch',
    ]);
    expect(batchWorkflowId('btr_1')).toBe('bulk/btr_1');
    expect(bulkQueue('bursar', 'sandbox-bank')).toBe('bursar-sandbox-bank-bulk');
    expect(deliveryWorkflowId('dlv_1')).toBe('delivery/dlv_1');
    expect(webhooksQueue('bursar')).toBe('bursar-webhooks');
    expect(cardEventWorkflowId('cwe_1')).toBe('card-event/cwe_1');
    expect(replayWorkflowId('rpl_1')).toBe('replay/rpl_1');
    expect(replaysQueue('bursar')).toBe('bursar-replays');
    expect(transferWorkflowId('trf_1')).toBe('transfer/trf_1');
    expect(wakeSignal.name).toBe('wake');
    expect(OPERATOR_KINDS).toEqual(['retry', 'verify', 'complete', 'fail']);
    expect(providerQueue('bursar', 'sandbox-bank')).toBe('bursar-sandbox-bank');
  });

  test('activities', () => {
    // Only the names are looked at: nothing of the dependencies is used.
    const activities = createActivities({} as Parameters<typeof createActivities>[0]);
    expect(Object.keys(activities).toSorted()).toEqual([
      'applyCardEvent',
      'closeBatch',
      'deliverWebhook',
      'noteCancellation',
      'noteOperator',
      'raiseAttention',
      'readStanding',
      'replayCardEvent',
      'resolveRecipient',
      'settleTransfer',
      'submitBatchPart',
      'submitTransfer',
      'submitTransferHere',
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
