export { delivery } from './delivery.js';
export { transfer } from './transfer.js';
export { transferBatch } from './transfer-batch.js';
